import { openExport, type ExportRequest } from '../../../queries/exports/export.js';
import type { ExportKind } from '../../../schemas/exports/export.js';
import type { InTurn } from '../../../queries/exports/export-pages.js';
import type { Operations } from '../../../schemas/index.js';
import type { Platform } from '../../../process/platform.js';
import type { Handlers } from '../../mount-operations.js';

/**
 * Each page waits for the tenant's turn, as a heavy request does, and gives way to others behind it: an
 * export that lasts for an hour holds no place for an hour. The first page is the request's own.
 */
function turnsOf({ shares }: Platform, tenantId: string): InTurn {
  let isOwn = true;
  return async (work) => {
    if (isOwn) {
      isOwn = false;
      return work();
    }
    const leave = await shares.enter(tenantId, 'heavy', () => false);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}

export const exportHandlers: Handlers<Operations['export']> = {
  stream: ({ params, query }, scope, platform) => {
    const request: ExportRequest = { ...query, kind: params.kind as ExportKind };
    const { parquet } = platform;
    return openExport(scope, request, { parquet, inTurn: turnsOf(platform, scope.tenantId) });
  },
};
