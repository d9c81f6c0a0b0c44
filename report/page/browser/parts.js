// What all charts use: the data, units, colors, the tip at the pointer, and the time in view.
'use strict';

const runs = JSON.parse(document.getElementById('data').textContent).runs;

// Four digits, without zeros at the end of decimals.
function digits(value) {
  const decimals = Math.max(0, Math.min(3, 3 - Math.floor(Math.log10(Math.abs(value) || 1))));
  return String(Number(value.toFixed(decimals)));
}
function withUnit(value, units) {
  const [size, name] = units.find(([least]) => Math.abs(value) >= least) || units[units.length - 1];
  return digits(value / size) + ' ' + name;
}
const timeText = ns =>
    ns === 0 ? '0' : withUnit(ns, [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']]);
const bytesText = bytes =>
    withUnit(bytes, [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']]);
const rateText = bytes => bytesText(bytes) + '/s';
const flopsText = flops => withUnit(
    flops,
    [[1e15, 'PFLOP/s'], [1e12, 'TFLOP/s'], [1e9, 'GFLOP/s'], [1e6, 'MFLOP/s'], [1, 'FLOP/s']]);
const percentText = share => (share * 100).toFixed(1) + ' %';

// ---- colors
// --------------------------------------------------------------------------------------

const themeListeners = [];
let colors = new Map();
function color(name) {
  if (!colors.has(name)) {
    const value = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
    colors.set(
        name,
        value || getComputedStyle(document.documentElement).getPropertyValue('--other').trim());
  }
  return colors.get(name);
}
// Black or white, whichever stands out more.
const inkOn = ground => d3.lab(ground).l > 49.5 ? '#000' : '#fff';
const isDark = () => document.documentElement.dataset.theme === 'dark';
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  colors = new Map();
  themeListeners.forEach(redraw => redraw());
}

// The theme of the system until the reader chooses one.
function startTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  setTheme(dark.matches ? 'dark' : 'light');
  dark.addEventListener('change', event => setTheme(event.matches ? 'dark' : 'light'));
  document.querySelector('header').append(element('button', {
    id: 'theme',
    textContent: 'light / dark',
    title: 'switch between light and dark',
    onclick: () => setTheme(isDark() ? 'light' : 'dark'),
  }));
}

// ---- elements
// ------------------------------------------------------------------------------------

// Text goes in as text, never as HTML: names come from files.
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made)
      made[name] = value;
    else
      made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function legend(entries) {
  return element('div', {className: 'legend'}, ...entries.map(([name, fill]) => {
    const mark = element('i');
    mark.style.background = fill;
    return element('span', {}, mark, name);
  }));
}

// Calls draw(width) now, and whenever the width of the host or the theme changes.
function drawFor(host, draw) {
  let width = 0;
  const redraw = () => {
    if (host.clientWidth > 0) draw(host.clientWidth);
  };
  new ResizeObserver(() => {
    if (host.clientWidth === width) return;
    width = host.clientWidth;
    redraw();
  }).observe(host);
  themeListeners.push(redraw);
}

// Makes the canvas `width` x `height` in CSS pixels, sharp on every screen; returns its context.
function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + 'px';
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Returns the text, cut with an ellipsis where it is longer than `width` pixels.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 0 && context.measureText(text.slice(0, length) + '…').width > width) --length;
  return length < 3 ? '' : text.slice(0, length) + '…';
}

// ---- the tip at the pointer
// ----------------------------------------------------------------------

const tip = element('div', {id: 'tip', hidden: true});
document.body.append(tip);
function showTip(event, text) {
  if (!text) return hideTip();
  tip.hidden = false;
  tip.textContent = text;
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4)) + 'px';
  tip.style.top = (event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 :
                                                               event.clientY + 18) +
      'px';
}
function hideTip() {
  tip.hidden = true;
}

// ---- the time in view
// ----------------------------------------------------------------------------

// The timelines and the memory of both runs show the same time. `transform` is d3.zoom's.
const view = {
  length: Math.max(1, ...runs.map(run => run.iteration)),
  transform: d3.zoomIdentity,
  listeners: [],
  // The scale from nanoseconds to pixels from `left` to `right`.
  scale(left, right) {
    const all = d3.scaleLinear().domain([0, this.length]).range([left, right]);
    const {k, x} = this.transform, width = right - left;
    return d3.scaleLinear().range([left, right]).domain([
      all.invert(left - x * width / k), all.invert(left + (1 - x) * width / k)
    ]);
  },
  // `x` is in widths of the plot, so that plots of all widths share it.
  set(k, x) {
    k = Math.max(1, Math.min(k, Math.max(1, this.length / 100)));
    this.transform = {k, x: Math.max(1 - k, Math.min(0, x))};
    this.listeners.forEach(redraw => redraw());
  },
  // Zooms by `factor` around a place, as a share of the plot's width.
  zoom(factor, place = 0.5) {
    const {k, x} = this.transform,
              next = Math.max(1, Math.min(k * factor, Math.max(1, this.length / 100)));
    this.set(next, place - (place - x) * next / k);
  },
  pan(share) {
    this.set(this.transform.k, this.transform.x + share);
  },
};
view.transform = {
  k: 1,
  x: 0
};

// Ticks of an axis of nanoseconds: as many as have room.
function timeAxis(axis, scale) {
  const count = Math.max(2, Math.floor((scale.range()[1] - scale.range()[0]) / 110));
  const [from, to] = scale.domain(), step = d3.tickStep(from, to, count);
  const [size, unit] =
      [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']].find(([least]) => to >= least) || [1, 'ns'];
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  return axis(scale).ticks(count).tickFormat(ns => (ns / size).toFixed(decimals) + ' ' + unit);
}
