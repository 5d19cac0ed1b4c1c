import { always, exportRow, perhaps } from './column.js';

export const invoiceColumns = {
  id: always.uuid('Id of the invoice.'),
  invoiceNo: always.text('Number of the invoice.'),
  accountId: always.uuid('Account that is charged.'),
  accountName: always.text('Name of that account.'),
  accountNumber: perhaps.text('Number of that account.'),
  invoiceType: always.name('Invoice or Credit Note.'),
  invoiceStatus: always.name('Draft, Posted or Void.'),
  paymentStatus: always.name('Unpaid, Partially Paid or Paid.'),
  approvalStatus: always.name('Draft, Pending Approval, Approved or Rejected.'),
  amount: always.decimal('Sum of the items, without tax.'),
  taxAmount: always.decimal('Sum of the tax of the items.'),
  total: always.decimal('Amount and tax together.'),
  balance: always.decimal('What of the total is not paid.'),
  currency: always.name('ISO code.'),
  invoiceDate: always.date('Date of the invoice.'),
  dueDate: perhaps.date('When it is to be paid.'),
  periodStart: perhaps.date('First day of the billed period.'),
  periodEnd: perhaps.date('Last day of the billed period.'),
  contractId: perhaps.uuid('The contract, when it is for only one.'),
  voidedAt: perhaps.instant('When it was voided.'),
  voidReason: perhaps.text('Why it was voided, where that was said.'),
};

export const InvoiceExport = exportRow(invoiceColumns, 'What a billing run charges an account.');

export const invoiceItemColumns = {
  id: always.uuid('Id of the item.'),
  invoiceId: always.uuid('Invoice that it belongs to.'),
  invoiceNo: always.text('Number of that invoice.'),
  invoiceDate: always.date('Date of that invoice.'),
  invoiceType: always.name('Invoice or Credit Note.'),
  invoiceStatus: always.name('Draft, Posted or Void.'),
  accountId: always.uuid('Account that is charged.'),
  position: always.integer('Place in the invoice, counted from 0.'),
  description: perhaps.text('What is charged.'),
  amount: always.decimal('What it costs, without tax.'),
  tax: always.decimal('Tax on the amount.'),
  taxCode: perhaps.text('By which it is taxed.'),
  taxRate: perhaps.decimal('Percent.'),
  balance: always.decimal('What of amount and tax is not paid.'),
  currency: always.name('ISO code of the currency of the invoice.'),
  volume: always.decimal('How much was charged.'),
  unit: perhaps.text('What the volume counts.'),
  ratePerUnit: perhaps.decimal('Price per unit, where there is one.'),
  priceMethodType: perhaps.name('Price method of the charge.'),
  chargeType: always.name('Usage, Subscription or OTC.'),
  billStartDate: perhaps.date('First day that it is for.'),
  billEndDate: perhaps.date('Last day that it is for.'),
  chargedDays: perhaps.integer('Days that are charged, where it is a part of a period.'),
  periodDays: perhaps.integer('Days of that whole period.'),
  serviceId: perhaps.uuid('The service charged.'),
  serviceName: perhaps.text('Name of the service when billed.'),
  serviceCode: perhaps.text('Code of the service when billed.'),
  contractServiceId: perhaps.uuid('The line of a contract that it charges.'),
};

export const InvoiceItemExport = exportRow(invoiceItemColumns, 'One charge of an invoice.');

export const paymentColumns = {
  id: always.uuid('Id of the payment.'),
  paymentReference: always.text('Reference of the payment.'),
  accountId: always.uuid('Account that pays or is paid.'),
  amount: always.decimal('Amount.'),
  balance: always.decimal('What of the amount is not applied to invoices.'),
  currency: always.name('ISO code.'),
  paymentStatus: always.name('How it stands, e.g. Completed.'),
  balanceStatus: always.name('Unapplied, Partially Applied or Applied.'),
  paymentType: always.name('Pay In or Pay Out.'),
  paymentMethod: always.name('How it was paid.'),
  paymentDate: always.date('When it was paid.'),
  approvalStatus: always.name('Draft, Pending Approval, Approved or Rejected.'),
  paymentGlStatus: always.name('Pending or Posted.'),
  glPaymentDate: perhaps.date('When it was posted to the general ledger.'),
  isManualPayment: always.boolean('Whether a person entered it.'),
  participantName: perhaps.text('Who paid or was paid.'),
  comments: perhaps.text('What there is to say of it.'),
};

export const PaymentExport = exportRow(paymentColumns, 'A payment that was not deleted.');
