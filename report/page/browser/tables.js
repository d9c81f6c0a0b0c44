// Tables: a click on a heading sorts, the field above filters rows.

function sortTable(table, column, heading) {
  const descends = heading.getAttribute('aria-sort') === 'ascending' ||
      (!heading.hasAttribute('aria-sort') && heading.classList.contains('n'));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
  heading.setAttribute('aria-sort', descends ? 'descending' : 'ascending');
  const keyOf = row => {
    const cell = row.cells[column], key = cell.dataset.key;
    return key === undefined ? cell.textContent.trim() : Number(key);
  };
  const order = (a, b) => typeof a === 'number' && typeof b === 'number' ?
      a - b :
      String(a).localeCompare(String(b), 'en', {numeric: true});
  const isAbsent = key => key === '' || key === 'none';
  const rows = [...table.tBodies[0].rows].map(row => [keyOf(row), row]);
  // Cells without a value are last in both directions.
  rows.sort(
      ([a], [b]) => isAbsent(a) || isAbsent(b) ? isAbsent(a) - isAbsent(b) :
                                                 (descends ? -1 : 1) * order(a, b));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function filterTable(table, text, count) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const content = row.textContent.toLowerCase();
    row.hidden = !words.every(word => content.includes(word));
    shown += !row.hidden;
  }
  count.textContent = words.length ? `${shown} of ${table.tBodies[0].rows.length} rows` :
                                     `${table.tBodies[0].rows.length} rows`;
}

function makeTablesWork() {
  const fewRows = 8;  // these need no filter
  for (const table of document.querySelectorAll('.wide table')) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      heading.classList.add('sorts');
      heading.tabIndex = 0;
      heading.title = 'sort';
      heading.addEventListener('click', () => sortTable(table, column, heading));
      heading.addEventListener('keydown', event => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        sortTable(table, column, heading);
      });
    });
    if (table.tBodies[0].rows.length < fewRows) continue;
    const count = element('span', {className: 'note'});
    const field =
        element('input', {type: 'search', placeholder: 'filter rows', ariaLabel: 'filter rows'});
    field.addEventListener('input', () => filterTable(table, field.value, count));
    table.parentElement.before(element('div', {className: 'tools'}, field, count));
    filterTable(table, '', count);
  }
}
