import type { Definition } from '../../../messages/definitions/definition.js';
import { arrow, escaped, fitted, textAt } from './block.js';
import { listBlock } from './task-block.js';
import { startWords, tellTasks } from './words.js';

const margin = 24;
const headHeight = 92;

const style = `
text{font:12px system-ui,sans-serif;fill:#1c2430}
.title{font-size:16px;font-weight:600}.name{font-weight:600}.small{font-size:11px;fill:#445063}
.box{fill:#fff;stroke:#5b6b82;stroke-width:1.2}
.call{fill:#eaf2fd}.person{fill:#fdf3d8;stroke:#9a6b00;stroke-width:2}.switch{fill:#f1ecfb}
.wait,.listen{fill:#f2f4f7;stroke-dasharray:5 3}.raise{fill:#fdeaea;stroke:#a32020}
.emit,.set{fill:#eaf7ef}.quiet{fill:none;stroke:#b4bdca}
.group{fill:#5b6b82;fill-opacity:.04;stroke:#9aa6b6}.caught{stroke-dasharray:6 4}
.line{fill:none;stroke:#445063;stroke-width:1.3}.dashed{stroke-dasharray:6 4}
.end{fill:#fff;stroke:#1c2430}`;

/**
 * A picture of a definition (docs/decisions/0421): tasks in their order from top to bottom, branches
 * beside each other. It has a title and tells its tasks in words, for those who do not see it.
 */
export function drawWorkflow(definition: Definition): string {
  const { document, do: tasks } = definition;
  const title = document.title ?? document.name;
  const body = listBlock(tasks);
  const start = startWords(definition);
  const width = Math.max(body.width, 300) + 2 * margin;
  const height = headHeight + body.height + 70;
  const left = Math.max(margin, (width - body.width) / 2);
  const middle = left + body.middle;
  const end = headHeight + body.height;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description"`,
    ` viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(tellTasks(tasks).join(' '))}</desc>`,
    `<style>${style}</style>`,
    `<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"`,
    ` orient="auto"><path d="M0 0L8 4L0 8z" fill="#445063"/></marker></defs>`,
    `<g aria-hidden="true"><rect width="${width}" height="${height}" fill="#fff"/>`,
    textAt(margin, 30, fitted(title, (width - 2 * margin) * 0.75, 'name'), 'title'),
    `<circle cx="${middle}" cy="58" r="7" fill="#1c2430"/>`,
    textAt(middle + 14, 62, fitted(start, width - middle - margin - 14, 'small'), 'small'),
    arrow(`M${middle} 65V${headHeight - 2}`),
    body.draw(left, headHeight),
    arrow(`M${middle} ${end}v26`),
    `<circle cx="${middle}" cy="${end + 36}" r="8" class="end"/>`,
    `<circle cx="${middle}" cy="${end + 36}" r="4" fill="#1c2430"/>`,
    `</g></svg>`,
  ].join('');
}
