// Where the time goes: a bar for each rank class, its parts side by side.

function colorOfPart(name) {
  return color(name.replace('exposed ', '').replaceAll(' ', '-'));
}

function labelOfClass({ranks, layers}) {
  const list = (noun, numbers) => numbers === '' ? '' :
      /[-,]/.test(numbers)                       ? `${noun}s ${numbers}` :
                                                   `${noun} ${numbers}`;
  return [list('rank', ranks), list('layer', layers)].filter(Boolean).join(' · ');
}

function drawBars(host) {
  const draw = () => {
    const used = runs[0].parts.filter(
        (_, i) => runs.some(run => run.classes.some(each => each.parts[i] > 0)));
    const rows = [];
    runs.forEach((run, number) => {
      if (runs.length > 1) rows.push(element('h3', {}, number === 0 ? 'This run' : 'The base'));
      for (const each of run.classes) {
        const bar = element('div', {className: 'bar'});
        each.parts.forEach((ns, i) => {
          if (ns === 0) return;
          const share = ns / run.iteration, fill = colorOfPart(run.parts[i]);
          const part = element('div', {}, share > 0.06 ? `${Math.round(share * 100)} %` : '');
          Object.assign(
              part.style,
              {width: 100 * ns / view.length + '%', background: fill, color: inkOn(fill)});
          part.addEventListener(
              'pointermove',
              event => showTip(event, `${run.parts[i]}\n${timeText(ns)}, ${percentText(share)}`));
          part.addEventListener('pointerleave', hideTip);
          bar.append(part);
        });
        const label = element('span', {title: labelOfClass(each)}, labelOfClass(each));
        rows.push(element('div', {className: 'row'}, label, bar));
      }
    });
    host.classList.add('bars');
    host.replaceChildren(legend(used.map(name => [name, colorOfPart(name)])), ...rows);
  };
  drawFor(host, draw);
}
