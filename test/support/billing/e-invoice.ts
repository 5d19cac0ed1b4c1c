import type { PdfInvoice } from '../../../src/messages/pdf-invoice.js';
import { pdfInvoice, pdfItem, pdfParty } from './pdf-invoice.js';

/**
 * An invoice of which EN 16931 can say all. Taxes: 7 % of 1,000 + 100 is 77; 19 % of 2.13 is 0.4047,
 * which is 0.40. Net 1,102.13; with 77.40 of taxes 1,179.53.
 */
export const taxedInvoice = (changes: Partial<PdfInvoice> = {}): PdfInvoice =>
  pdfInvoice(
    'Käufer & Söhne <AG>',
    [
      pdfItem('Calls', { tax: '0.40', taxRate: '19' }),
      pdfItem('Support', { taxRate: '7', tax: '70', amount: '1000.00', rate: null, volume: '3.5' }),
      pdfItem('Seat', {
        taxRate: '7',
        tax: '7',
        amount: '100.00',
        rate: '3.3333333333',
        volume: '30',
      }),
    ],
    {
      currency: 'EUR',
      amount: '1102.13',
      taxAmount: '77.40',
      total: '1179.53',
      paid: '179.53',
      due: '1000',
      contractNumber: 'C-1',
      poNumber: 'PO 7',
      payment: { text: null, iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
      taxes: [
        { rate: '7', base: '1100', tax: '77' },
        { rate: '19', base: '2.13', tax: '0.4' },
      ],
      seller: pdfParty('Verkäufer GmbH', {
        street: 'Hauptstraße 5',
        zipCode: '10115',
        city: 'Berlin',
        country: 'DE',
        vatId: 'DE123456789',
        registration: 'HRB 12345',
      }),
      buyer: pdfParty('Käufer & Söhne <AG>', {
        street: 'Rue 1',
        zipCode: '75001',
        city: 'Paris',
        country: 'FR',
      }),
      ...changes,
    },
  );
