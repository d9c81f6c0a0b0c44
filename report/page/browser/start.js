// Draws the charts of the sections that the page has.

setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
matchMedia('(prefers-color-scheme: dark)')
    .addEventListener('change', event => setTheme(event.matches ? 'dark' : 'light'));
document.querySelector('header').append(element('button', {
  id: 'theme',
  textContent: 'light / dark',
  title: 'switch between light and dark',
  onclick: () => setTheme(isDark() ? 'light' : 'dark'),
}));
makeTablesWork();
for (const [id, draw] of Object.entries({
       bars: drawBars,
       timeline: drawTimeline,
       memory: drawMemory,
       links: drawHeatMap,
       kernels: drawRoofline
     })) {
  const host = document.getElementById(id);
  if (host) draw(host);
}
