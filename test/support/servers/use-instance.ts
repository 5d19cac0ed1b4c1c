import { openTestInstance, type InstanceOptions } from './instance.js';
import type { TestInstance, TestTenant } from './instance.js';
import { keepTestDatabase } from './servers.js';

/** What a hook opens, as its tests see it; asking before the hook has run is a mistake of the test. */
function opened<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`There is no ${what} yet: ask within a hook or a test.`);
  return value;
}

/** Instances that test files of this process share, by what was asked for. */
const sharedInstances = new Map<string, TestInstance>();

/** What an instance that is shared may be asked for, beside a clock. */
const sharedOptions = ['withWorkers', 'isPublic', 'tokenSeconds'] as const;

/** The clock of the `describe` that uses a shared instance; undefined: it has the real time. */
let clockInUse: (() => Date) | undefined;

const canBeShared = (options: InstanceOptions): boolean =>
  Object.keys(options).every((name) => ['now', ...sharedOptions].includes(name));

/** Workers cost when they have nothing to do, too: of instances that have some, only one is kept. */
async function closeOthersWithWorkers(): Promise<void> {
  for (const [key, instance] of sharedInstances) {
    if (!key.startsWith('[true')) continue;
    sharedInstances.delete(key);
    await instance.close();
    keepTestDatabase(instance.databaseUrl, false);
  }
}

/**
 * Opened by the first file that asks, for all that follow: to open one costs as much as many tests. Each
 * file has tenants of its own in it, which is how the product is used.
 */
async function openSharedInstance({ now, ...options }: InstanceOptions): Promise<TestInstance> {
  const key = JSON.stringify(sharedOptions.map((name) => options[name]));
  const open = sharedInstances.get(key);
  if (open) return open;
  if (options.withWorkers === true) await closeOthersWithWorkers();
  const clock = now && { now: () => clockInUse?.() ?? new Date() };
  const instance = await openTestInstance({ ...options, ...clock });
  keepTestDatabase(instance.databaseUrl, true);
  sharedInstances.set(key, instance);
  return instance;
}

export interface UseOptions extends InstanceOptions {
  /** Whether nobody else may have been there: its tests look at more than their tenants. */
  readonly isAlone?: boolean;
}

/**
 * The product for the tests of a `describe`: opened before the first of them, closed after the last; or the
 * one that files of this process share, where nothing special is asked for.
 * What is returned at once stands for it, so that a test needs no variable that a hook fills.
 */
export function useInstance({ isAlone = false, ...options }: UseOptions = {}): TestInstance {
  const isShared = !isAlone && canBeShared(options);
  let current: TestInstance | undefined;
  const instance = (): TestInstance => opened(current, 'instance');
  before('open an instance', async () => {
    if (isShared) clockInUse = options.now;
    current = await (isShared ? openSharedInstance(options) : openTestInstance(options));
  });
  // What could not be opened has nothing to close, and its error is not hidden by another one.
  after('close the instance', async () => {
    if (isShared) clockInUse = undefined;
    else await current?.close();
  });
  return {
    get platform() {
      return instance().platform;
    },
    get url() {
      return instance().url;
    },
    get databaseUrl() {
      return instance().databaseUrl;
    },
    tenant: (...asked) => instance().tenant(...asked),
    token: (tenantId, roles, orgId) => instance().token(tenantId, roles, orgId),
    close: () => instance().close(),
  };
}

interface TenantOptions {
  /** Whether each test has a tenant of its own; else the tests of the `describe` share one. */
  readonly forEachTest?: boolean;
  readonly roles?: readonly string[];
}

/** A tenant of the instance for the tests of a `describe`; see `useInstance`. */
export function useTenant(
  instance: TestInstance,
  { forEachTest = false, roles }: TenantOptions = {},
): TestTenant {
  let current: TestTenant | undefined;
  const tenant = (): TestTenant => opened(current, 'tenant');
  (forEachTest ? beforeEach : before)('make a tenant', async () => {
    current = await instance.tenant(roles);
  });
  return {
    get id() {
      return tenant().id;
    },
    get token() {
      return tenant().token;
    },
    get scope() {
      return tenant().scope;
    },
    get: (path) => tenant().get(path),
    post: (path, body) => tenant().post(path, body),
    put: (path, body) => tenant().put(path, body),
    delete: (path) => tenant().delete(path),
  };
}
