import { beginErasure, endErasure, eraseTraces } from '../../commands/ageing/erase-person.js';
import { storeInvoicePdf } from '../../commands/billing/invoice-pdf.js';
import type {
  ErasedRows,
  ErasureInput,
  ErasurePlace,
  ErasureResult,
} from '../../messages/ageing/erasure.js';
import type { Platform } from '../../process/platform.js';
import { listUnkeptPapers } from '../../queries/ageing/invoice-papers.js';
import { loadPdfInvoice } from '../../queries/billing/invoice-pdf.js';
import { flowStep, type StepCall } from '../flows/flow-step.js';
import { alive } from '../long-steps-at-once.js';
import { workflowScope } from '../scope.js';

/** A step ends after this time; the next one goes on where it stopped. */
const stepMs = 20_000;
const papersAtOnce = 20;

export function erasureActivities(platform: Platform) {
  return {
    /** Stores the PDFs of the account's invoices that have none: later they could not name it. */
    keepPapers: ({ run, input: { accountId } }: StepCall<ErasureInput>): Promise<number> =>
      alive(run.tenantId, async () => {
        const scope = await workflowScope(platform, run.tenantId, run.actor);
        let kept = 0;
        for (;;) {
          const { read } = scope.db;
          const ids = await listUnkeptPapers(read, run.tenantId, accountId, papersAtOnce);
          if (ids.length === 0) return kept;
          for (const id of ids) {
            const invoice = await loadPdfInvoice(scope, id);
            await storeInvoicePdf(scope, invoice, await platform.invoices.render(invoice));
            kept += 1;
          }
        }
      }),

    /** Erases what the records have of the person, and notes what is to be looked for. */
    beginErasure: flowStep(platform, (scope, { accountId }: ErasureInput, executionId) =>
      beginErasure(scope, { accountId, executionId }),
    ),

    /** Erases what other rows tell of the person, from a place on, for some seconds. */
    eraseTraces: ({ run, input }: StepCall<ErasurePlace>): Promise<ErasedRows> =>
      alive(run.tenantId, async () => {
        const scope = await workflowScope(platform, run.tenantId, run.actor);
        const { executionId } = run;
        const since = performance.now();
        const rows: Record<string, number> = {};
        let place: ErasurePlace | null = input;
        while (place !== null && performance.now() - since < stepMs) {
          const portion = await eraseTraces(scope, { executionId, place });
          rows[portion.name] = (rows[portion.name] ?? 0) + portion.rows;
          place = portion.next;
        }
        return { rows, next: place };
      }),

    /** Ends an erasure. */
    endErasure: flowStep(platform, async (scope, result: ErasureResult, executionId) => {
      await endErasure(scope, executionId);
      return result;
    }),
  };
}
