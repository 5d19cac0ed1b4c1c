import PDFDocument from 'pdfkit';
import type { PdfInvoice } from '../../messages/pdf-invoice.js';
import { eInvoiceXml } from './e-invoice.js';
import { facturXMetadata } from './factur-x.js';
import { drawInvoice } from './invoice-page.js';

const eInvoiceFile = 'factur-x.xml';

/**
 * Renders an invoice: the same bytes for the same invoice. The file is a PDF/A-3b; where the invoice
 * has all that EN 16931 asks for, it holds it as XML too (docs/decisions/0121).
 */
export async function renderInvoicePdf(invoice: PdfInvoice): Promise<Buffer> {
  const { title, invoiceNo, invoiceDate, seller, isVoid } = invoice;
  // The clock must not be in the file.
  const date = new Date(`${invoiceDate}T00:00:00Z`);
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    bufferPages: true,
    lang: 'en',
    pdfVersion: '1.7',
    subset: 'PDF/A-3b',
    info: {
      Title: `${title} ${invoiceNo}${isVoid ? ' (void)' : ''}`,
      Author: seller.name,
      CreationDate: date,
      ModDate: date,
      Creator: 'Durabill',
      Producer: 'Durabill',
    },
    // No Helvetica, which could not be embedded.
    font: null as unknown as string,
  });
  const chunks: Buffer[] = [];
  doc.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<Buffer>((resolve, reject) => {
    doc.on('end', () => resolve(Buffer.concat(chunks)));
    doc.on('error', reject);
  });
  const xml = eInvoiceXml(invoice);
  if (xml !== null) {
    const attachment = {
      name: eInvoiceFile,
      type: 'text/xml',
      // pdfkit knows it, its types do not.
      relationship: 'Alternative',
      description: 'The invoice as EN 16931 XML (Factur-X)',
      creationDate: date,
      modifiedDate: date,
    };
    doc.file(Buffer.from(xml), attachment);
    doc.appendXML(facturXMetadata(eInvoiceFile), true);
  }
  drawInvoice(doc, invoice);
  doc.end();
  return ended;
}
