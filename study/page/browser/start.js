// Draws the charts, and keeps the table in step with them.

startTheme();

function drawBest(host) {
  if (!done.length) return;
  const best = done.reduce((a, b) => badness(b) < badness(a) ? b : a);
  const tile = element('div', {className: 'tile'}, element('span', {}, 'best by ' + rankedBy),
                       element('b', {}, figureText(valueOf(best, rankedBy))));
  const list = element('dl', {});
  study.axes.forEach((axis, i) => list.append(element('dt', {}, axis),
                                              element('dd', {}, best.values[i])));
  tile.append(list, element('a', {href: linkOf(best)}, 'its run'));
  host.append(element('div', {className: 'tiles'}, tile));
}

drawBest(document.getElementById('best'));
drawParallel(document.getElementById('parallel'));
drawGrid(document.getElementById('grid'));
drawFront(document.getElementById('front'));
makeTablesWork();

// Rows of points that the reader leaves out are pale.
const pointOf = new Map(study.points.map(point => [point.id, point]));
kept.listeners.push(() => {
  for (const row of document.querySelectorAll('#points tbody tr')) {
    const point = pointOf.get(row.cells[0].textContent);
    row.classList.toggle('out', kept.ranges.size > 0 && !kept.has(point));
  }
});
