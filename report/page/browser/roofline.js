// Kernels against the roofs of their GPU. Products: FLOP/s over FLOPs per byte, below the memory
// bandwidth and the dense rates. Kernels without FLOPs on tensor cores: bandwidth over bytes.

const boundColors = {
  'tensor cores': 'forward',
  memory: 'tensor',
  launch: 'pipeline',
  compute: 'backward'
};
const colorOfBound = bound => color(boundColors[bound] || 'other');

function kernelOf([name, shape, gpu, flops, bytes, seconds, launches, share, bound, source]) {
  return {name, shape, gpu, flops, bytes, seconds, launches, share, bound, source};
}

function tipOfKernel(kernel) {
  return [
    `${kernel.name} ${kernel.shape}`, kernel.gpu,
    `${timeText(kernel.seconds * 1e9)} × ${kernel.launches}, ${
        percentText(kernel.share)} of all kernel time`,
    kernel.flops > 0 ? `${flopsText(kernel.flops / kernel.seconds)}, ${
                           digits(kernel.flops / kernel.bytes)} FLOP per byte` :
                       '',
    `${rateText(kernel.bytes / kernel.seconds)} if every operand moves once`,
    `bound: ${kernel.bound}; time: ${kernel.source}`
  ].filter(Boolean)
      .join('\n');
}

// Draws a scatter of kernels. `roofs`: lines as [name, function of x].
function scatter(host, width, {kernels, x, y, xTitle, yTitle, xFormat, yFormat, roofs}) {
  const height = Math.max(240, Math.min(380, width * 0.7)),
        margin = {left: 64, right: 14, top: 12, bottom: 40};
  const span = (values, least) => {
    const [from, to] = d3.extent(values);
    return [Math.min(from / 1.6, to / least), to * 1.6];
  };
  const xs =
      d3.scaleLog().domain(span(kernels.map(x), 10)).range([margin.left, width - margin.right]);
  const tops = roofs.map(([, roof]) => roof(xs.domain()[1]));
  const ys = d3.scaleLog().domain(span([...kernels.map(y), ...tops], 10)).range([
    height - margin.bottom, margin.top
  ]);
  const svg = d3.select(host).append('svg').attr('width', width).attr('height', height);
  const decades = (scale, format, room) => {
    const axis = scale.ticks(10).filter(
        value =>
            Math.abs(Math.log10(value) % 1) < 1e-6 || Math.abs(Math.log10(value) % 1) > 1 - 1e-6);
    const values = axis.length >= 2 ? axis : scale.ticks(4);
    const every = Math.ceil(values.length / room);
    return group => axis => group.call(
               axis(scale).tickValues(values.filter((_, i) => i % every === 0)).tickFormat(format));
  };
  svg.append('g')
      .attr('class', 'axis')
      .attr('transform', `translate(0,${height - margin.bottom})`)
      .each(function() {
        decades(xs, xFormat, width / 80)(d3.select(this))(d3.axisBottom);
      });
  svg.append('g')
      .attr('class', 'axis')
      .attr('transform', `translate(${margin.left},0)`)
      .each(function() {
        decades(ys, yFormat, height / 30)(d3.select(this))(d3.axisLeft);
      });
  svg.append('text')
      .attr('x', width - margin.right)
      .attr('y', height - 6)
      .attr('text-anchor', 'end')
      .text(xTitle);
  svg.append('text').attr('x', margin.left + 6).attr('y', margin.top + 2).text(yTitle);
  const points = d3.range(0, 101).map(
      i => xs.invert(margin.left + (width - margin.left - margin.right) * i / 100));
  const line = d3.line().x(xs).defined(value => value !== null);
  const labels = [];
  for (const [name, roof] of roofs) {
    svg.append('path')
        .attr('class', 'roof')
        .attr('fill', 'none')
        .attr('stroke', color('dim'))
        .attr('stroke-dasharray', '4 3')
        .attr('d', line.y(value => ys(Math.max(ys.domain()[0], roof(value))))(points));
    let at = ys(roof(xs.domain()[1])) - 5;
    while (labels.some(other => Math.abs(other - at) < 14)) at += 14;
    labels.push(at);
    svg.append('text')
        .attr('x', width - margin.right)
        .attr('y', at)
        .attr('text-anchor', 'end')
        .text(name);
  }
  const radius = kernel => 3 + 12 * Math.sqrt(kernel.share);
  svg.append('g')
      .selectAll('circle')
      .data([...kernels].sort((a, b) => b.share - a.share))
      .join('circle')
      .attr('cx', kernel => xs(x(kernel)))
      .attr('cy', kernel => ys(y(kernel)))
      .attr('r', radius)
      .attr('fill', kernel => colorOfBound(kernel.bound))
      .attr('fill-opacity', 0.6)
      .attr('stroke', kernel => colorOfBound(kernel.bound))
      .on('pointermove', kernel => showTip(d3.event, tipOfKernel(kernel)))
      .on('pointerleave', hideTip);
}

function drawRoofline(host) {
  const run = runs[0], kernels = run.kernels.map(kernelOf);
  if (kernels.length === 0)
    return host.append(element('p', {}, 'No kernel of this run states its FLOPs or bytes.'));
  let gpu = run.roofs[0].gpu;
  const bounds = [...new Set(kernels.map(kernel => kernel.bound))], hidden = new Set();
  const tools = element('div', {className: 'tools'});
  if (run.roofs.length > 1) {
    const list = element(
        'select', {ariaLabel: 'GPU'},
        ...run.roofs.map(roof => element('option', {value: roof.gpu}, roof.gpu)));
    list.addEventListener('change', () => {
      gpu = list.value;
      draw();
    });
    tools.append(element('label', {}, 'GPU ', list));
  }
  for (const bound of bounds) {
    const box = element('input', {type: 'checkbox', checked: true});
    const mark = element('i');
    box.addEventListener('change', () => {
      hidden[box.checked ? 'delete' : 'add'](bound);
      draw();
    });
    tools.append(element('label', {className: 'legend'}, box, mark, ` bound by ${bound}`));
    const paint = () => {
      mark.style.background = colorOfBound(bound);
    };
    paint();
    themeListeners.push(paint);
  }
  const panels = element('div', {className: 'panels'}), products = element('div'),
        others = element('div');
  panels.append(products, others);
  host.append(tools, panels);
  const draw = () => {
    const roof = run.roofs.find(each => each.gpu === gpu),
          shown = kernels.filter(kernel => kernel.gpu === gpu && !hidden.has(kernel.bound));
    const computing = shown.filter(kernel => kernel.flops > 0 && kernel.bytes > 0),
          moving = shown.filter(kernel => kernel.flops === 0 && kernel.bytes > 0);
    products.replaceChildren(element('h3', {}, 'Products on tensor cores'));
    others.replaceChildren(element('h3', {}, 'Kernels without products'));
    // Types of one rate share a roof.
    const ceilings = [...d3.group(roof.rates, ([, rate]) => rate)].map(
        ([rate, types]) =>
            [`${types.map(([type]) => type).join(', ')} ${flopsText(rate)}`,
             value => Math.min(rate, value * roof.memory)]);
    if (computing.length > 0) {
      scatter(products, products.clientWidth, {
        kernels: computing,
        x: kernel => kernel.flops / kernel.bytes,
        y: kernel => kernel.flops / kernel.seconds,
        xTitle: 'FLOP per byte',
        yTitle: 'FLOP/s',
        xFormat: digits,
        yFormat: value => flopsText(value).replace('FLOP/s', ''),
        roofs: ceilings
      });
    }
    if (moving.length > 0) {
      scatter(others, others.clientWidth, {
        kernels: moving,
        x: kernel => kernel.bytes,
        y: kernel => kernel.bytes / kernel.seconds,
        xTitle: 'bytes moved',
        yTitle: 'bytes per second',
        xFormat: bytesText,
        yFormat: bytesText,
        roofs: [[`memory ${rateText(roof.memory)}`, () => roof.memory]]
      });
    }
  };
  drawFor(host, draw);
}
