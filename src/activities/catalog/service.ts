import { approveService } from '../../commands/flows/approve-record.js';
import { cloneService } from '../../commands/catalog/clone-service.js';
import { createOrComplete, saveByFlow } from '../../commands/flows/save-by-flow.js';
import { createService, deleteService, updateService } from '../../commands/catalog/service.js';
import type { Platform } from '../../process/platform.js';
import { getService } from '../../queries/catalog/service.js';
import { ServiceCreate, ServiceUpdate } from '../../schemas/catalog/service.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import { actOn, deletedBy, startStep } from '../flows/start-node.js';

export function serviceActivities(platform: Platform) {
  return {
    createService: startStep(platform, 'createService', (scope, { resolved, save, draftId }) =>
      createOrComplete(
        scope,
        save,
        { id: draftId, fields: resolved },
        {
          forCreate: ServiceCreate,
          forUpdate: ServiceUpdate,
          create: createService,
          update: updateService,
        },
      ),
    ),
    editService: startStep(platform, 'editService', (scope, { resolved, save }) => {
      const { id, ...fields } = resolved;
      const input = reviveInput(ServiceUpdate, fields);
      return saveByFlow(scope, save, (inner) => updateService(inner, String(id), input));
    }),
    deleteService: deletedBy(platform, 'deleteService', getService, deleteService),
    approveService: actOn(platform, 'approveService', getService, approveService),
    cloneService: actOn(platform, 'cloneService', getService, cloneService),
  };
}
