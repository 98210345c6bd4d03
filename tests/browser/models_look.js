// What is wrong at the step that is shown, in words; nothing, if all is well.
() => {
    const found = [], near = 1.5;
    const say = (...words) => found.push(words.join(' '));
    const inside = (a, b) => a.left >= b.left - near && a.right <= b.right + near && a.top >= b.top - near && a.bottom <= b.bottom + near;
    const box = (part) => part.getBoundingClientRect();
    const root = document.querySelector('.mgp'), views = [...root.querySelectorAll('.mgp-shown .mgp-view')];
    const window_ = { left: 0, right: innerWidth, top: -Infinity, bottom: Infinity };
    if (document.documentElement.scrollWidth > innerWidth) say('the page is wider than the window');
    for (const [i, view] of views.entries()) {
        const name = i ? 'detail ' + i : 'strip', svg = view.querySelector('svg');
        if (!svg) continue;
        if (view.scrollWidth > view.clientWidth + 1) say(name, 'scrolls sideways');
        if (view.scrollHeight > view.clientHeight + 1 && getComputedStyle(view).overflowY !== 'hidden') say(name, 'scrolls down');
        const now = box(svg).width / svg.viewBox.baseVal.width;
        for (const text of svg.querySelectorAll('text')) {
            if (!text.textContent.trim() || getComputedStyle(text).visibility === 'hidden' || !box(text).width) continue;
            if (now * parseFloat(getComputedStyle(text).fontSize) < 10.9) say(name, 'is small:', text.textContent);
            if (!inside(box(text), box(svg))) say(name, 'is cut:', text.textContent);
            const card = text.closest('.station > .card, .station > .deck:not(.strip > .deck)')?.querySelector(':scope > .box');
            if (card && (box(text).left < box(card).left - near || box(text).right > box(card).right + near)) say(name, 'leaves its card:', text.textContent);
        }
        for (const station of svg.querySelectorAll('g.station > .card > .box')) {
            if (!inside(box(station), box(view)) || !inside(box(station), window_)) say(name, 'has a station out of view:', station.closest('.station').id);
        }
        const names = [...svg.querySelectorAll('.detail .station:not(.outside) > .card')].map((card) => card.querySelector('text')?.textContent);
        for (const twice of names.filter((one, j) => names.indexOf(one) !== j)) say(name, 'has two stations called', twice);
    }
    const strip = views[0].querySelector('svg');
    if (box(strip).bottom - box(root).top > innerHeight) say('bar, caption and strip are higher than the window');
    const marked = strip.querySelectorAll('.strip:has(.active), .strip.active').length;
    if (marked && !strip.querySelector('.strip[aria-current]')) say('the active card is not marked');
    return [...new Set(found)];
}
