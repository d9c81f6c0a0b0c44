// Parallel coordinates: an axis for each key and metric, a line for each point. Dragging along an
// axis keeps the lines that cross it there; the other charts and the table follow.
'use strict';

const study = JSON.parse(document.getElementById('data').textContent).study;
const metricOf = new Map(study.metrics.map(metric => [metric.name, metric]));
const done = study.points.filter(point => point.state === 'done');
const valueOf = (point, metric) => point.metrics[metric];
const figureText = value => value === undefined ? '' : digits(value);
const labelOf = point =>
    study.axes.map((axis, i) => `${axis} ${point.values[i]}`).join('\n');

// Values of an axis in their order: numbers by size, words as the study has them.
function domainOf(index) {
  const values = [...new Set(study.points.map(point => point.values[index]))];
  const number = text => Number.parseFloat(text);
  return values.every(text => !Number.isNaN(number(text))) ?
      values.sort((a, b) => number(a) - number(b)) :
      values;
}

// Which points the reader keeps: all charts draw these.
const kept = {
  ranges: new Map(),  // column name -> [low, high] in the unit of the column's scale
  listeners: [],
  has(point) {
    return columns.every(column => {
      const range = this.ranges.get(column.name);
      if (!range) return true;
      const place = column.place(point);
      return place !== undefined && place >= range[0] && place <= range[1];
    });
  },
  set(name, range) {
    if (range)
      this.ranges.set(name, range);
    else
      this.ranges.delete(name);
    this.listeners.forEach(redraw => redraw());
  }
};

// A column of the chart: an axis of the study or a metric. place(point) is from 0 (bottom) to 1.
function axisColumn(index) {
  const domain = domainOf(index),
        step = domain.length > 1 ? 1 / (domain.length - 1) : 0;
  return {
    name: study.axes[index],
    place: point => domain.length > 1 ? domain.indexOf(point.values[index]) * step : 0.5,
    ticks: domain.map((text, i) => [domain.length > 1 ? i * step : 0.5, text])
  };
}
function metricColumn(name) {
  const values = done.map(point => valueOf(point, name)).filter(value => value !== undefined);
  if (!values.length) return null;
  const [low, high] = d3.extent(values), span = high - low;
  const place = value => span > 0 ? (value - low) / span : 0.5;
  return {
    name,
    place: point => {
      const value = valueOf(point, name);
      return value === undefined ? undefined : place(value);
    },
    ticks: (span > 0 ? d3.ticks(low, high, 5) : [low]).map(value => [place(value), digits(value)])
  };
}
const columns = [
  ...study.axes.map((axis, index) => axisColumn(index)),
  ...study.ranked.map(metricColumn).filter(Boolean)
];

const rankedBy = study.ranked[0];
// 0: the best point, 1: the worst.
const badness = (() => {
  const values = done.map(point => valueOf(point, rankedBy)).filter(value => value !== undefined);
  const [low, high] = d3.extent(values), more = metricOf.get(rankedBy).better === 'more';
  return point => {
    const share = high > low ? (valueOf(point, rankedBy) - low) / (high - low) : 0;
    return more ? 1 - share : share;
  };
})();
function shadeOf(share) {
  return isDark() ? d3.interpolateViridis(1 - 0.8 * share) : d3.interpolateViridis(0.85 * share);
}

function drawParallel(host) {
  if (!done.length) return host.append(element('p', {}, 'No point was simulated.'));
  host.append(element(
      'p', {className: 'note'},
      `Drag along an axis to keep the points that cross it there; a click on it keeps all again. ` +
          `Colors: ${rankedBy}, dark is ${isDark() ? 'worse' : 'better'}.`));
  const count = element('span', {className: 'note', id: 'kept'});
  const svg = d3.create('svg').attr('role', 'img').attr('aria-label', 'parallel coordinates');
  const box = element('div', {className: 'chart wide'});
  box.append(svg.node());
  host.append(element('div', {className: 'tools'}, count), box);
  const height = 320, top = 56, bottom = 14;
  let restoring = false;  // a redraw puts the ranges back, which is no choice of the reader's
  const y = d3.scaleLinear().domain([0, 1]).range([height - bottom, top]);
  const draw = outer => {
    const width = Math.max(outer, columns.length * 104);
    const x = d3.scalePoint().domain(columns.map(column => column.name)).range([56, width - 60]);
    svg.attr('width', width).attr('height', height).selectAll('*').remove();
    // The best lines are drawn last.
    const order = [...done].sort((a, b) => badness(b) - badness(a));
    const line = point =>
        d3.line().defined(([, place]) => place !== undefined)
            .x(([name]) => x(name)).y(([, place]) => y(place))(
                columns.map(column => [column.name, column.place(point)]));
    svg.append('g').attr('fill', 'none').selectAll('path').data(order).join('path')
        .attr('class', 'line').attr('d', line)
        .attr('stroke', point => kept.has(point) ? shadeOf(badness(point)) : color('line'))
        .attr('stroke-width', point => kept.has(point) ? 1.6 : 0.6)
        .attr('opacity', point => kept.has(point) ? 0.85 : 0.35)
        .on('pointermove', point => showTip(d3.event, tipOf(point)))
        .on('pointerleave', hideTip);
    const groups = svg.append('g').selectAll('g').data(columns).join('g')
        .attr('transform', column => `translate(${x(column.name)},0)`);
    groups.append('line').attr('y1', y(0)).attr('y2', y(1)).attr('stroke', color('dim'));
    groups.each(function(column) {
      const group = d3.select(this), parts = column.name.split('.');
      parts.forEach(
          (part, i) => group.append('text').attr('class', 'name').attr('text-anchor', 'middle')
              .attr('y', top - 16 - 14 * (parts.length - 1 - i))
              .text(part + (i < parts.length - 1 ? '.' : '')));
      const ticks = column.ticks.length > 12 ?
          column.ticks.filter((each, i) => i % Math.ceil(column.ticks.length / 12) === 0) :
          column.ticks;
      for (const [place, text] of ticks) {
        group.append('line').attr('x1', -4).attr('x2', 4).attr('y1', y(place)).attr('y2', y(place))
            .attr('stroke', color('dim'));
        group.append('text').attr('class', 'tick').attr('x', 8).attr('dy', '0.32em')
            .attr('y', y(place)).text(text);
      }
      const brush = d3.brushY().extent([[-14, y(1) - 4], [14, y(0) + 4]]).on('end', function() {
        if (restoring || !d3.event.sourceEvent) return;
        const range = d3.event.selection;
        kept.set(column.name, range && [y.invert(range[1]), y.invert(range[0])]);
      });
      const place = group.append('g').attr('class', 'brush').call(brush);
      const range = kept.ranges.get(column.name);
      restoring = true;
      if (range) place.call(brush.move, [y(range[1]), y(range[0])]);
      restoring = false;
    });
    const shown = done.filter(point => kept.has(point)).length;
    count.textContent = `${shown} of ${done.length} points`;
  };
  let width = 0;
  drawFor(box, now => draw(width = now));
  kept.listeners.push(() => width && draw(width));
}

function tipOf(point) {
  return [labelOf(point), ...study.ranked.map(
      name => `${name} ${figureText(valueOf(point, name))}`)].join('\n');
}
