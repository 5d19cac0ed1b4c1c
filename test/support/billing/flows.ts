import { external, type TestTenant } from '../servers/instance.js';

let count = 0;

/** A start node of the onboarding flow; each makes an account of its own. */
export function onboarding(changes: object = {}) {
  count += 1;
  return {
    Company_Name: `Acme ${count}`,
    First_Name: 'Ann',
    Last_Name: 'Miller',
    Line1: '1 Main Street',
    City: 'Springfield',
    State: 'IL',
    Country: 'US',
    Currency: 'us dollar',
    Zip_Code: '62701',
    ...changes,
  };
}

/** Runs the flow of a slug and answers with the body. */
export const runFlow = async (tenant: TestTenant, slug: string, start: object, status = 200) =>
  (await tenant.post(`${external}/run/billing/${slug}`, start).expect(status)).body;
