import type { Api } from './open-client.ts';
import { read } from './problem.ts';

/** The number of an invoice alone, without any of its items. */
export async function readInvoiceNo(api: Api, invoiceId: string, signal: AbortSignal) {
  const path = '/api/v1/external/invoices/{invoiceId}';
  const params = { path: { invoiceId }, query: { itemOffset: '1000000' } };
  const answer = await read(api.GET(path, { params, signal }));
  return 'data' in answer ? answer.data.InvoiceNo : answer.invoiceNo;
}

/** An invoice with all of its items, page after page. */
export async function readWholeInvoice(
  api: Api,
  invoiceId: string,
  signal: AbortSignal,
  /** Whether with what its PDF says beside the items. */
  paper = false,
) {
  const page = async (itemOffset: string) => {
    const path = '/api/v1/external/invoices/{invoiceId}';
    const params = {
      path: { invoiceId },
      query: { itemOffset, paper: paper && itemOffset === '0' },
    };
    const answer = await read(api.GET(path, { params, signal }));
    // The other form is that of `view=row`, which was not asked for.
    if ('data' in answer) throw new TypeError('The invoice came as a row.');
    return answer;
  };
  const first = await page('0');
  const items = [...first.items];
  for (let next = first.nextItemOffset; next !== null;) {
    const further = await page(next);
    items.push(...further.items);
    next = further.nextItemOffset;
  }
  return { ...first, items };
}
