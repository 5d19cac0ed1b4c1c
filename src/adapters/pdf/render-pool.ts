import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { PdfInvoice } from '../../messages/pdf-invoice.js';

/** Renders invoices beside the event loop, which serves requests and workflows meanwhile. */
export interface InvoiceRenderer {
  /** The PDF of an invoice: the same bytes for the same invoice. */
  render(invoice: PdfInvoice): Promise<Buffer>;
  /** Ends the threads when what they render is done. */
  close(): Promise<void>;
}

const extension = fileURLToPath(import.meta.url).slice(-3);
const script = new URL(`./invoice-pdf${extension}`, import.meta.url).href;
/** A thread that has nothing to do gives its memory back; opening one takes about a second. */
const idleMs = 10_000;
const threadsMax = 4;

/** Threads are opened when there is something to render: one is left to the event loop. */
export function openInvoiceRenderer(): InvoiceRenderer {
  let pool: Piscina<PdfInvoice, Uint8Array> | undefined;
  return {
    async render(invoice) {
      pool ??= new Piscina({
        filename: script,
        name: 'renderInvoicePdf',
        idleTimeout: idleMs,
        minThreads: 0,
        maxThreads: Math.max(1, Math.min(threadsMax, availableParallelism() - 1)),
      });
      // A thread that fails with nothing to do is replaced; of one that renders, its caller is told.
      if (pool.listenerCount('error') === 0) pool.on('error', () => undefined);
      const { buffer, byteOffset, byteLength } = await pool.run(invoice);
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    async close() {
      await pool?.close();
    },
  };
}
