// The memory of the fullest rank over the time in view, below what its GPU has.

function drawMemory(host) {
  const shown = runs.map((run, number) => ({
                           memory: run.memory,
                           end: run.iteration,
                           name: number === 0 ? 'this run' : 'the base'
                         }))
                    .filter(({memory}) => memory !== null);
  if (shown.length === 0)
    return host.append(element('p', {}, 'This workload does not state what it holds at each op.'));
  const note = element('div', {className: 'note'}), place = element('div');
  host.append(place, note);
  let width = 0;
  const stepsOf = ({memory, end}) => {
    const steps = [];
    for (let i = 0; i < memory.curve.length; i += 2)
      steps.push([memory.curve[i], memory.curve[i + 1]]);
    if (steps.length > 0) steps.push([end, steps[steps.length - 1][1]]);
    return steps;
  };
  const curves = shown.map(stepsOf);
  const draw = () => {
    const height = 240, left = width < 700 ? 112 : 150, right = width - 12, top = 16,
          bottom = height - 24;
    const scale = view.scale(left, right);
    // Where the GPU has far more than it needs, its line would press the curve to the ground.
    const needed = d3.max(shown, ({memory}) => memory.needed), gpu = d3.max(shown, ({memory}) => memory.gpu);
    const most = needed > gpu / 3 ? Math.max(gpu, needed) * 1.06 : needed * 1.3;
    const ys = d3.scaleLinear().domain([0, most]).range([bottom, top]);
    place.replaceChildren();
    const svg = d3.select(place).append('svg').attr('width', width).attr('height', height);
    svg.append('clipPath')
        .attr('id', 'memory-plot')
        .append('rect')
        .attr('x', left)
        .attr('y', 0)
        .attr('width', Math.max(0, right - left))
        .attr('height', height);
    svg.append('g')
        .attr('class', 'axis')
        .attr('transform', `translate(0,${bottom})`)
        .call(timeAxis(d3.axisBottom, scale));
    svg.append('g')
        .attr('class', 'axis')
        .attr('transform', `translate(${left},0)`)
        .call(d3.axisLeft(ys).ticks(5).tickFormat(bytesText));
    shown.forEach(({name}, number) => {
      const fill = color(number === 0 ? 'compute' : 'tensor');
      const area = d3.area()
                       .curve(d3.curveStepAfter)
                       .x(([time]) => scale(time))
                       .y0(bottom)
                       .y1(([, bytes]) => ys(bytes));
      svg.append('path')
          .attr('clip-path', 'url(#memory-plot)')
          .attr('class', 'curve')
          .attr('aria-label', name)
          .attr('fill', fill)
          .attr('fill-opacity', shown.length > 1 ? 0.3 : 0.55)
          .attr('stroke', fill)
          .attr('d', area(curves[number]));
    });
    const {memory} = shown[0], taken = [];
    const level = (bytes, text, tone) => {
      let y = Math.max(top, ys(bytes));
      if (bytes <= most) {
        svg.append('line')
            .attr('x1', left)
            .attr('x2', right)
            .attr('y1', y)
            .attr('y2', y)
            .attr('stroke', color(tone))
            .attr('stroke-dasharray', '5 3');
      }
      y -= 4;
      while (taken.some(other => Math.abs(other - y) < 13)) y += 13;
      taken.push(y);
      svg.append('text')
          .attr('x', right - 4)
          .attr('y', y)
          .attr('text-anchor', 'end')
          .text(text)
          .attr('paint-order', 'stroke')
          .attr('stroke', color('ground'))
          .attr('stroke-width', 3);
    };
    level(
        memory.gpu, `the GPU has ${bytesText(memory.gpu)}${memory.gpu > most ? ', above this picture' : ''}`,
        memory.needed > memory.gpu ? 'bad' : 'dim');
    level(
        memory.needed, `needed with reserves ${bytesText(memory.needed)}`,
        memory.needed > memory.gpu ? 'bad' : 'dim');
    svg.append('rect')
        .attr('class', 'reader')
        .attr('x', left)
        .attr('y', 0)
        .attr('width', Math.max(0, right - left))
        .attr('height', bottom)
        .attr('fill', 'transparent')
        .on('pointermove',
            () => {
              const time = scale.invert(d3.mouse(svg.node())[0]);
              const lines = shown.map(({name}, number) => {
                const at = d3.bisector(step => step[0]).right(curves[number], time) - 1;
                return at < 0 ?
                    '' :
                    `${shown.length > 1 ? name + ': ' : ''}${bytesText(curves[number][at][1])}`;
              });
              showTip(d3.event, [timeText(time), ...lines].join('\n'));
            })
        .on('pointerleave', hideTip);
    note.textContent =
        shown
            .map(
                ({memory: each, name}) => `${shown.length > 1 ? name + ': ' : ''}rank ${each.rank}`)
            .join(' · ') +
        ' · the same time as the timeline above';
  };
  drawFor(host, now => {
    width = now;
    draw();
  });
  view.listeners.push(() => {
    if (width > 0) draw();
  });
}
