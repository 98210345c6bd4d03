from otter.test_files import test_case

from minigrad_viz import check_prediction

OK_FORMAT = False
name = "a_grad"
points = 1


@test_case(points=1)
def test_a_grad(twice, a_grad):
    judged = check_prediction(twice, "a.grad", a_grad)
    assert judged, judged.text
