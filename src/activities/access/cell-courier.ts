import {
  forgetRelayedEvents,
  listRelayedEvents,
  mirrorTenants,
  receiveEvents,
} from '../../models/access/relayed-event.js';
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

/** Brings names and suspensions of its tenants to a cell. */
export const mirrorTenantsOf = ({ database }: Platform, cell: Cell): Promise<void> =>
  cell === database.home
    ? Promise.resolve()
    : mirrorTenants(database.platform, cell.platform, cell.name);
