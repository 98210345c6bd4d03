from otter.test_files import test_case

from minigrad_viz import check_prediction

OK_FORMAT = False
name = "x_grad"
points = 2


@test_case(points=2)
def test_x_grad(x, y, w, z, x_grad):
    judged = check_prediction(z, "x.grad", x_grad)
    assert judged, judged.text
