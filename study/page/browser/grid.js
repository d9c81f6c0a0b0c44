// Two axes against each other: the best kept point of each cell, or why there is none.

function choice(label, options, chosen, action) {
  const list = element('select', {ariaLabel: label}, ...options.map(([value, text]) => {
    const option = element('option', {value}, text);
    option.selected = value === chosen;
    return option;
  }));
  list.addEventListener('change', () => action(list.value));
  return element('label', {}, label + ' ', list);
}

function drawGrid(host) {
  if (study.axes.length < 2) return host.append(element('p', {}, 'The sweep has one axis.'));
  const axes = study.axes.map((axis, i) => [String(i), axis]);
  const metrics = study.metrics.filter(metric => done.some(
      point => valueOf(point, metric.name) !== undefined)).map(({name}) => [name, name]);
  const state = {across: '0', down: '1', metric: rankedBy};
  const table = element('div', {className: 'scroll'});
  const draw = () => {
    const across = Number(state.across), down = Number(state.down);
    const less = metricOf.get(state.metric).better !== 'more';
    const columns = domainOf(across), rows = domainOf(down);
    const cells = new Map();
    for (const point of study.points) {
      const key = point.values[down] + '\n' + point.values[across], cell = cells.get(key);
      if (point.state !== 'done' || valueOf(point, state.metric) === undefined) {
        if (!cell) cells.set(key, {why: point});
        continue;
      }
      if (!kept.has(point)) continue;
      const value = valueOf(point, state.metric);
      if (!cell || !cell.point || (less ? value < cell.value : value > cell.value))
        cells.set(key, {point, value});
    }
    const values = [...cells.values()].filter(cell => cell.point).map(cell => cell.value);
    const [low, high] = d3.extent(values);
    const shade = value => {
      const share = high > low ? (value - low) / (high - low) : 0;
      return shadeOf(less ? share : 1 - share);
    };
    const head = element('tr', {}, element('th', {}, `${study.axes[down]} \\ ${study.axes[across]}`),
                         ...columns.map(text => element('th', {className: 'n'}, text)));
    const body = rows.map(row => element('tr', {}, element('th', {}, row), ...columns.map(column => {
      const cell = cells.get(row + '\n' + column), made = element('td', {className: 'n cell'});
      if (cell && cell.point) {
        made.append(element('a', {href: linkOf(cell.point)}, digits(cell.value)));
        made.style.background = shade(cell.value);
        made.firstChild.style.color = inkOn(shade(cell.value));
        made.addEventListener('pointermove', event => showTip(event, tipOf(cell.point)));
      } else if (cell) {
        made.textContent = cell.why.state;
        made.classList.add('why');
        made.addEventListener('pointermove', event => showTip(event, cell.why.reason));
      }
      made.addEventListener('pointerleave', hideTip);
      return made;
    })));
    table.replaceChildren(element('table', {className: 'grid'}, element('thead', {}, head),
                                  element('tbody', {}, ...body)));
  };
  const set = key => value => {
    const other = {across: 'down', down: 'across'}[key];
    if (other && state[other] === value) state[other] = state[key];
    state[key] = value;
    tools.replaceChildren(...choices());
    draw();
  };
  const choices = () => [
    choice('across', axes, state.across, set('across')),
    choice('down', axes, state.down, set('down')),
    choice('best', metrics, state.metric, set('metric'))
  ];
  const tools = element('div', {className: 'tools'}, ...choices());
  host.append(tools, table);
  themeListeners.push(draw);
  kept.listeners.push(draw);
  draw();
}

const linkOf = point => `points/${point.id}/${point.file}`;
