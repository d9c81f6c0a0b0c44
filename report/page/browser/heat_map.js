// Links x time: how full each link is. An average hides bursts, so the colors show the peak unless
// the reader picks another figure.

const heatRow = 15;
const figures = [['peak', 'peak'], ['p99', '99th percentile'], ['mean', 'mean']];

function heatColors() {
  // The palest tone of either ground would look like no traffic.
  return isDark() ? share => d3.interpolateInferno(0.18 + 0.82 * Math.min(1, share)) :
                    share => d3.interpolateYlOrRd(0.08 + 0.92 * Math.min(1, share));
}

class HeatMap {
  constructor(host) {
    this.run = runs[0];
    this.figure = 'peak';
    this.order = 'given';
    this.filter = '';
    this.canvas = element('canvas', {ariaLabel: 'load of links over time'});
    this.scaleHost = element('div', {className: 'legend'});
    this.axis = d3.create('svg').attr('height', 22).attr('width', '100%');
    const choice = (label, options, action) => {
      const list = element(
          'select', {ariaLabel: label},
          ...options.map(([value, text]) => element('option', {value}, text)));
      list.addEventListener('change', () => {
        action(list.value);
        this.draw();
      });
      return element('label', {}, label + ' ', list);
    };
    const field = element(
        'input',
        {type: 'search', placeholder: 'filter: name of a link', ariaLabel: 'filter links'});
    field.addEventListener('input', () => {
      this.filter = field.value.toLowerCase();
      this.draw();
    });
    const tools = element(
        'div', {className: 'tools'},
        choice(
            'show', figures,
            value => {
              this.figure = value;
            }),
        choice(
            'order',
            [['given', 'by kind'], ...figures.map(([value, text]) => [value, 'by ' + text])],
            value => {
              this.order = value;
            }));
    if (runs.length > 1)
      tools.append(choice('run', [['0', 'this run'], ['1', 'the base']], value => {
        this.run = runs[Number(value)];
      }));
    tools.append(field);
    host.append(tools, this.scaleHost, this.canvas, this.axis.node());
    drawFor(host, width => {
      this.width = width;
      this.draw();
    });
    this.canvas.addEventListener('pointermove', event => showTip(event, this.tipAt(event)));
    this.canvas.addEventListener('pointerleave', hideTip);
  }

  get left() {
    return this.width < 700 ? 104 : 330;
  }

  // Rows with their places; groups have a heading unless another order mixes them.
  layout() {
    const index = {mean: 0, p99: 1, peak: 2}, rows = [];
    let y = 0;
    const add = list => {
      for (const row of list) {
        if (!row.name.toLowerCase().includes(this.filter)) continue;
        rows.push({row, y});
        y += heatRow + 1;
      }
    };
    if (this.order !== 'given') {
      const all = new Map(this.run.load.flatMap(group => group.rows).map(row => [row.name, row]));
      add([...all.values()].sort(
          (a, b) => b.whole[index[this.order]] - a.whole[index[this.order]]));
    } else {
      for (const group of this.run.load) {
        const begin = y;
        y += 20;
        add(group.rows);
        if (y === begin + 20)
          y = begin;
        else
          rows.push({heading: group.name, y: begin});
      }
    }
    return [rows, y];
  }

  draw() {
    if (!this.width) return;
    const [rows, height] = this.layout(),
                 context = sized(this.canvas, this.width, Math.max(heatRow, height));
    const fill = heatColors(), index = {mean: 0, p99: 1, peak: 2}[this.figure];
    this.rows = rows;
    this.scale =
        d3.scaleLinear().domain([0, this.run.iteration]).range([this.left, this.width - 12]);
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (const {heading, row, y} of rows) {
      context.fillStyle = color('text');
      context.textAlign = 'left';
      if (heading) {
        context.font = '600 12px system-ui, sans-serif';
        context.fillText(heading, 0, y + 11);
        context.font = '12px system-ui, sans-serif';
        continue;
      }
      const value = percentText(row.whole[index] / 1000);
      context.textAlign = 'right';
      context.fillText(value, this.left - 6, y + heatRow / 2);
      context.textAlign = 'left';
      context.fillStyle = color('dim');
      context.fillText(
          fitted(context, row.name, this.left - 16 - context.measureText(value).width), 0,
          y + heatRow / 2);
      context.fillStyle = color('faint');
      context.fillRect(this.left, y, this.width - 12 - this.left, heatRow);
      const shares = row[this.figure], width = (this.width - 12 - this.left) / shares.length;
      for (let begin = 0, end; begin < shares.length; begin = end) {
        for (end = begin + 1; end < shares.length && shares[end] === shares[begin];) ++end;
        if (shares[begin] === 0) continue;
        context.fillStyle = fill(shares[begin] / 1000);
        context.fillRect(this.left + begin * width, y, (end - begin) * width + 0.3, heatRow);
      }
    }
    this.axis.selectAll('g')
        .data([0])
        .join('g')
        .attr('class', 'axis')
        .attr('transform', 'translate(0,1)')
        .call(timeAxis(d3.axisBottom, this.scale));
    const marks = [0.01, 0.25, 0.5, 0.75, 1];
    this.scaleHost.replaceWith(
        this.scaleHost = legend(marks.map(
            share =>
                [share === 0.01  ? 'little' :
                     share === 1 ? '100 % or more' :
                                   percentText(share),
                 fill(share)])));
  }

  tipAt(event) {
    const box = this.canvas.getBoundingClientRect(), y = event.clientY - box.top,
          x = event.clientX - box.left;
    const found =
        (this.rows || []).find(each => each.row && y >= each.y && y < each.y + heatRow + 1);
    if (!found) return '';
    const {row} = found,
          figuresOf = (mean, p99, peak) => `mean ${percentText(mean / 1000)}, p99 ${
              percentText(p99 / 1000)}, peak ${percentText(peak / 1000)}`;
    const lines = [`${row.name} (${rateText(row.rate)})`, `iteration: ${figuresOf(...row.whole)}`];
    if (x >= this.left) {
      const column = Math.max(
          0,
          Math.min(
              row.mean.length - 1,
              Math.floor((x - this.left) / (this.width - 12 - this.left) * row.mean.length)));
      const time = i => this.run.iteration * i / row.mean.length;
      lines.push(
          `${timeText(time(column))} to ${timeText(time(column + 1))}:`,
          figuresOf(row.mean[column], row.p99[column], row.peak[column]));
    }
    return lines.join('\n');
  }
}

function drawHeatMap(host) {
  return new HeatMap(host);
}
