// The timeline: streams of ranks over time. Drag to pan over time and ranks; ctrl, shift or ⌘ with
// the wheel zooms, as do the buttons and the keys w and s (a and d pan). Timelines of two runs move
// together.

const laneHeight = 15, rankGap = 7;

// The columns of a lane's bars, with absolute times.
function lanesOf(run) {
  const lanes = [];
  for (const {rank, stream, bars} of run.lanes) {
    if (typeof bars === 'number') {
      lanes.push({rank, stream, bars: lanes[bars].bars});
      continue;
    }
    const list = [];
    let time = 0;
    for (let i = 0; i < bars.length; i += 7) {
      const begin = time + bars[i];
      time = begin + bars[i + 2];
      list.push({
        begin,
        end: time,
        wait: bars[i + 1],
        name: bars[i + 3],
        layer: bars[i + 4],
        microBatch: bars[i + 5],
        ops: bars[i + 6]
      });
    }
    lanes.push({rank, stream, bars: list});
  }
  return lanes;
}

function pathLane(run) {
  let time = 0;
  const bars = run.path.map(([length, name, rank, key]) => ({
                              begin: time,
                              end: time += length,
                              wait: 0,
                              name,
                              rank,
                              key,
                              layer: -1,
                              microBatch: -1,
                              ops: 1
                            }));
  return {rank: -1, stream: 'critical path', bars};
}

function tipOfBar(run, lane, bar) {
  const lines = [run.names[bar.name][0]];
  lines.push(
      lane.rank < 0 ? `critical path, on rank ${bar.rank}` :
                      `rank ${lane.rank}, stream ${lane.stream}`);
  if (bar.layer >= 0) lines.push(`layer ${bar.layer}`);
  if (bar.microBatch >= 0) lines.push(`micro-batch ${bar.microBatch}`);
  lines.push(`${timeText(bar.begin)} to ${timeText(bar.end)}: ${timeText(bar.end - bar.begin)}`);
  if (bar.wait > 0) lines.push(`waited ${timeText(bar.wait)} before`);
  if (bar.ops > 1) lines.push(`the longest of ${bar.ops} ops in this bar`);
  return lines.join('\n');
}

class Timeline {
  constructor(run, host) {
    this.run = run;
    this.all = [pathLane(run), ...lanesOf(run)].filter(lane => lane.bars.length > 0);
    this.offset = 0;  // of the ranks, in pixels
    this.flows = true;
    this.filter = '';
    this.axis = d3.select(host)
                    .append('svg')
                    .attr('height', 22)
                    .attr('width', '100%')
                    .append('g')
                    .attr('class', 'axis');
    this.canvas = element('canvas', {tabIndex: 0, ariaLabel: 'timeline'});
    this.note = element('div', {className: 'note'});
    host.append(this.canvas, this.note);
    this.place();
    drawFor(host, width => {
      this.width = width;
      this.draw();
    });
    view.listeners.push(() => this.draw());
    this.listen();
  }

  // Gives every lane that the filter leaves its place.
  place() {
    const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    this.lanes = [];
    let y = 0, before = null;
    for (const lane of this.all) {
      const text = lane.rank < 0 ? lane.stream : `rank ${lane.rank} ${lane.stream}`;
      const fits = word =>
          /^\d+$/.test(word) ? String(lane.rank) === word : text.toLowerCase().includes(word);
      if (!words.every(fits)) continue;
      if (before !== null && before !== lane.rank) y += rankGap;
      this.lanes.push({...lane, y, first: before !== lane.rank});
      before = lane.rank;
      y += laneHeight;
    }
    this.content = y;
    this.laneOf = new Map(this.lanes.map(lane => [`${lane.rank} ${lane.stream}`, lane]));
  }

  get height() {
    return Math.max(60, Math.min(this.content + 4, 520));
  }
  get left() {
    return this.width < 700 ? 112 : 150;
  }
  scale() {
    return view.scale(this.left, this.width - 12);
  }

  draw() {
    if (!this.width) return;
    this.offset = Math.max(0, Math.min(this.offset, this.content + 4 - this.height));
    const context = sized(this.canvas, this.width, this.height), scale = this.scale();
    this.axis.attr('transform', 'translate(0,21)').call(timeAxis(d3.axisTop, scale));
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.save();
    context.beginPath();
    context.rect(this.left, 0, this.width - this.left, this.height);
    context.clip();
    const visible = this.lanes.filter(
        lane => lane.y - this.offset < this.height && lane.y + laneHeight > this.offset);
    for (const lane of visible) this.drawLane(context, scale, lane);
    const arrows = this.flows ? this.drawMessages(context, scale) : '';
    context.restore();
    for (const lane of visible) this.drawLabel(context, lane);
    this.note.textContent = [
      `${timeText(scale.domain()[0])} to ${timeText(scale.domain()[1])}`,
      arrows,
      this.run.grain > 0 ? `ops of one stream within ${timeText(this.run.grain)} are one bar` :
                           'every op is a bar',
      this.content > this.height ? 'drag up and down for more ranks' : '',
    ].filter(Boolean).join(' · ');
  }

  drawLabel(context, lane) {
    const y = lane.y - this.offset + laneHeight / 2;
    context.textAlign = 'left';
    if (lane.first) {
      context.fillStyle = color('text');
      context.fillText(
          fitted(
              context, lane.rank < 0 ? lane.stream : `rank ${lane.rank}`,
              lane.rank < 0 ? this.left - 4 : 62),
          0, y);
    }
    if (lane.rank < 0) return;
    context.fillStyle = color('dim');
    context.textAlign = 'right';
    context.fillText(
        fitted(context, lane.stream, this.left - (lane.first ? 52 : 8)), this.left - 6, y);
  }

  drawLane(context, scale, lane) {
    const [from, to] = scale.domain(), y = lane.y - this.offset,
                 perPixel = (to - from) / (scale.range()[1] - this.left);
    let drawn = -Infinity;  // up to this pixel
    for (let i = d3.bisector(bar => bar.end).left(lane.bars, from); i < lane.bars.length; ++i) {
      const bar = lane.bars[i];
      if (bar.begin - bar.wait > to) break;
      const fill = color(bar.key || this.run.names[bar.name][1]);
      const left = scale(bar.begin), right = scale(bar.end);
      if (bar.wait > perPixel) {
        context.fillStyle = fill;
        context.globalAlpha = 0.35;
        context.fillRect(
            scale(bar.begin - bar.wait), y + laneHeight / 2 - 1, left - scale(bar.begin - bar.wait),
            2);
        context.globalAlpha = 1;
      }
      if (right < drawn + 0.5) continue;  // less than half a pixel beyond what is drawn
      const begin = Math.max(left, drawn), gap = right - left > 3 ? 0.6 : 0;
      context.fillStyle = fill;
      context.fillRect(begin, y + 1, Math.max(0.6, right - begin - gap), laneHeight - 2);
      drawn = right;
      const shown = Math.min(right, this.width) - Math.max(left, this.left);
      if (shown < 46) continue;
      context.fillStyle = inkOn(fill);
      context.textAlign = 'left';
      context.fillText(
          fitted(context, this.run.names[bar.name][0], shown - 8), Math.max(left, this.left) + 4,
          y + laneHeight / 2 + 0.5);
    }
  }

  // Arrows from sends to receives. Returns what the note says of them.
  drawMessages(context, scale) {
    const most = 1500, [from, to] = scale.domain();
    const inView =
        this.run.messages.list.filter(([, , sent, , , arrived]) => arrived >= from && sent <= to);
    const step = Math.ceil(inView.length / most);
    context.strokeStyle = context.fillStyle = color('text');
    context.lineWidth = 1;
    context.globalAlpha = 0.65;
    let drawn = 0;
    for (let i = 0; i < inView.length; i += Math.max(1, step)) {
      const [sender, sendStream, sent, receiver, receiveStream, arrived] = inView[i];
      const a = this.laneOf.get(`${sender} ${sendStream}`),
            b = this.laneOf.get(`${receiver} ${receiveStream}`);
      if (!a || !b) continue;
      const [x, y, toX, toY] = [
        scale(sent), a.y - this.offset + laneHeight / 2, scale(arrived),
        b.y - this.offset + laneHeight / 2
      ];
      const bend = Math.max(6, (toX - x) / 2);
      context.beginPath();
      context.moveTo(x, y);
      context.bezierCurveTo(x + bend, y, toX - bend, toY, toX, toY);
      context.stroke();
      context.beginPath();
      context.moveTo(toX, toY);
      context.lineTo(toX - 5, toY - 3);
      context.lineTo(toX - 5, toY + 3);
      context.fill();
      ++drawn;
    }
    context.globalAlpha = 1;
    return this.run.messages.all === 0 ?
        '' :
        `${drawn} of ${this.run.messages.all} messages between these ranks`;
  }

  barAt(event) {
    const box = this.canvas.getBoundingClientRect(), y = event.clientY - box.top + this.offset;
    const time = this.scale().invert(event.clientX - box.left),
          slack = Math.abs(this.scale().invert(1) - this.scale().invert(0));
    const lane = this.lanes.find(each => y >= each.y && y < each.y + laneHeight);
    if (!lane || event.clientX - box.left < this.left) return null;
    const bar = lane.bars[d3.bisector(each => each.end).left(lane.bars, time - slack)];
    return bar && bar.begin - bar.wait <= time + slack ? [lane, bar] : null;
  }

  listen() {
    const plot = () => Math.max(1, this.width - 12 - this.left);
    // d3.zoom tells apart wheel, drag, touch and double click; `view` keeps the result for both
    // runs.
    const zoom =
        d3.zoom()
            .filter(
                () => d3.event.type === 'wheel' ?
                    d3.event.ctrlKey || d3.event.shiftKey || d3.event.metaKey :
                    !d3.event.button)
            .on('zoom', () => {
              const now = d3.event.transform, before = this.last || d3.zoomIdentity,
                    event = d3.event.sourceEvent;
              this.last = now;
              if (!event || event.type === 'zoom') return;
              hideTip();
              const factor = now.k / before.k;
              if (Math.abs(factor - 1) > 1e-9) {
                const x = event.clientX === undefined ?
                    0.5 :
                    (event.clientX - this.canvas.getBoundingClientRect().left - this.left) / plot();
                view.zoom(factor, Math.max(0, Math.min(1, x)));
              } else {
                this.offset -= now.y - before.y;
                view.pan((now.x - before.x) / plot());
              }
            });
    d3.select(this.canvas).call(zoom);
    this.canvas.addEventListener('pointermove', event => {
      const found = event.buttons ? null : this.barAt(event);
      showTip(event, found && tipOfBar(this.run, ...found));
    });
    this.canvas.addEventListener('pointerleave', hideTip);
    this.canvas.addEventListener('keydown', event => {
      const actions = {
        w: () => view.zoom(1.5),
        s: () => view.zoom(1 / 1.5),
        a: () => view.pan(0.15),
        d: () => view.pan(-0.15)
      };
      const action = actions[{
        ArrowUp: 'w',
        ArrowDown: 's',
        ArrowLeft: 'a',
        ArrowRight: 'd'
      }[event.key] || event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
  }
}

function drawTimeline(host) {
  const button = (text, title, action) =>
      element('button', {textContent: text, title, ariaLabel: title, onclick: action});
  const field = element(
      'input', {type: 'search', placeholder: 'filter: rank or stream', ariaLabel: 'filter lanes'});
  const flows = element('input', {type: 'checkbox', checked: true, id: 'flows'});
  const tools = element(
      'div', {className: 'tools'}, button('+', 'zoom in', () => view.zoom(2)),
      button('−', 'zoom out', () => view.zoom(0.5)), button('◀', 'earlier', () => view.pan(0.25)),
      button('▶', 'later', () => view.pan(-0.25)),
      button('whole iteration', 'show the whole iteration', () => view.set(1, 0)), field);
  if (runs.some(run => run.messages.all > 0))
    tools.append(element('label', {}, flows, ' messages'));
  tools.append(element('span', {className: 'note'}, 'drag pans, ctrl + wheel zooms, keys w a s d'));
  const keys = element('div');
  host.append(tools, keys);
  const timelines = runs.map((run, number) => {
    const place = element('div', {className: 'run'});
    if (runs.length > 1) host.append(element('h3', {}, number === 0 ? 'This run' : 'The base'));
    host.append(place);
    return new Timeline(run, place);
  });
  const names = {
    forward: 'forward',
    recompute: 'recompute',
    backward: 'backward',
    'gradient-sync': 'gradient sync',
    optimizer: 'optimizer',
    tensor: 'tensor communication',
    pipeline: 'pipeline',
    data: 'data',
    context: 'context',
    expert: 'expert',
    world: 'world',
    memory: 'memory',
    host: 'host',
    other: 'other'
  };
  const drawKeys = () => {
    const used = new Set(runs.flatMap(
        run => [...run.names.map(([, key]) => key), ...run.path.map(step => step[3])]));
    keys.replaceChildren(legend(Object.entries(names)
                                    .filter(([key]) => used.has(key))
                                    .map(([key, name]) => [name, color(key)])));
  };
  drawKeys();
  themeListeners.push(drawKeys);
  const apply = () => timelines.forEach(timeline => {
    timeline.filter = field.value;
    timeline.flows = flows.checked;
    timeline.place();
    timeline.draw();
  });
  field.addEventListener('input', apply);
  flows.addEventListener('change', apply);
}
