// Draws the charts of the sections that the page has.

startTheme();
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
