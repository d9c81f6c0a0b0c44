// Two metrics against each other, and the points that no other beats in both.

function frontOf(points, first, second) {
  const worse = (metric, a, b) => {
    const better = metricOf.get(metric).better;
    return better === 'less' ? a > b : better === 'more' ? a < b : false;
  };
  const beats = (a, b) => {
    let better = false;
    for (const metric of [first, second]) {
      const left = valueOf(a, metric), right = valueOf(b, metric);
      if (worse(metric, left, right)) return false;
      better = better || worse(metric, right, left);
    }
    return better;
  };
  return points.filter(point => !points.some(other => beats(other, point)));
}

function drawFront(host) {
  if (!done.length) return;
  const names = study.metrics.filter(({name}) => done.some(
      point => valueOf(point, name) !== undefined)).map(({name}) => [name, name]);
  const has = name => names.some(([each]) => each === name);
  const state = {
    across: has('memory_gb') ? 'memory_gb' : names[0][0],
    up: rankedBy
  };
  const box = element('div', {className: 'chart'}), svg = d3.create('svg');
  box.append(svg.node());
  const height = 360, edge = {left: 70, right: 20, top: 14, bottom: 46};
  let width = 0;
  const draw = () => {
    if (!width) return;
    const points = done.filter(point => kept.has(point) &&
        valueOf(point, state.across) !== undefined && valueOf(point, state.up) !== undefined);
    const front = new Set(frontOf(points, state.across, state.up));
    const scale = (name, range) => d3.scaleLinear().nice().range(range).domain(
        d3.extent(points, point => valueOf(point, name))).nice();
    const x = scale(state.across, [edge.left, width - edge.right]);
    const y = scale(state.up, [height - edge.bottom, edge.top]);
    svg.attr('width', width).attr('height', height).selectAll('*').remove();
    svg.append('g').attr('class', 'axis').attr('transform', `translate(0,${height - edge.bottom})`)
        .call(d3.axisBottom(x).ticks(Math.max(2, width / 110)));
    svg.append('g').attr('class', 'axis').attr('transform', `translate(${edge.left},0)`)
        .call(d3.axisLeft(y).ticks(6));
    svg.append('text').attr('x', (edge.left + width - edge.right) / 2).attr('y', height - 8)
        .attr('text-anchor', 'middle').text(state.across);
    svg.append('text').attr('transform', 'rotate(-90)').attr('x', -(height - edge.bottom) / 2)
        .attr('y', 14).attr('text-anchor', 'middle').text(state.up);
    const chain = [...front].sort((a, b) => valueOf(a, state.across) - valueOf(b, state.across));
    svg.append('path').attr('class', 'front').attr('fill', 'none').attr('stroke', color('accent'))
        .attr('d', d3.line().x(point => x(valueOf(point, state.across)))
                       .y(point => y(valueOf(point, state.up)))(chain));
    svg.append('g').selectAll('a').data(points).join('a').attr('href', linkOf)
        .append('circle')
        .attr('class', point => front.has(point) ? 'dot best' : 'dot')
        .attr('cx', point => x(valueOf(point, state.across)))
        .attr('cy', point => y(valueOf(point, state.up)))
        .attr('r', point => front.has(point) ? 6 : 4)
        .attr('fill', point => front.has(point) ? color('accent') : color('other'))
        .on('pointermove', point => showTip(d3.event, tipOf(point)))
        .on('pointerleave', hideTip);
  };
  const set = key => value => {
    state[key] = value;
    draw();
  };
  host.append(
      element('div', {className: 'tools'}, choice('across', names, state.across, set('across')),
              choice('up', names, state.up, set('up'))),
      box);
  drawFor(box, now => {
    width = now;
    draw();
  });
  kept.listeners.push(draw);
}
