import {
  listSchedules,
  removeSchedule,
  setSchedule,
} from '../../../flows/billing/schedule-settings.js';
import type { ScheduledJob } from '../../../messages/sandbox/sandbox-clock.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const scheduleHandlers: Handlers<Operations['schedule']> = {
  list: (_request, scope, platform) => listSchedules(scope, platform),
  set: ({ params, body }, scope, platform) =>
    setSchedule(scope, platform, params.job as ScheduledJob, body),
  delete: ({ params }, scope, platform) =>
    removeSchedule(scope, platform, params.job as ScheduledJob),
};
