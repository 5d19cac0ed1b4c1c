import {
  forgetRelayedEvents,
  listRelayedEvents,
  mirrorTenants,
  receiveEvents,
} from '../../models/access/relayed-event.js';
import { mirrorRetentionDefaults } from '../../models/access/retention-rule.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';

/** Brings security events into the audit of a cell; returns how many were passed on. */
export async function relayEvents(
  { database: { platform: home } }: Platform,
  cell: Cell,
  eventsMax: number,
): Promise<number> {
  const events = await listRelayedEvents(home, cell.name, eventsMax);
  if (events.length === 0) return 0;
  await receiveEvents(cell.platform, events);
  await forgetRelayedEvents(
    home,
    events.map(({ id }) => id),
  );
  return events.length;
}

/** Brings names and suspensions of its tenants, and the defaults of retention, to a cell. */
export async function mirrorTo({ database }: Platform, cell: Cell): Promise<void> {
  if (cell === database.home) return;
  await mirrorTenants(database.platform, cell.platform, cell.name);
  await mirrorRetentionDefaults(database.platform, cell.platform);
}
