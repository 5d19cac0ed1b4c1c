import { openTestInstance, type InstanceOptions } from './instance.js';
import type { TestInstance, TestTenant } from './instance.js';
import { keepTestDatabase } from './servers.js';

/** What a hook opens, as its tests see it; asking before the hook has run is a mistake of the test. */
function opened<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`There is no ${what} yet: ask within a hook or a test.`);
  return value;
}

/** What an instance that is shared may be asked for, beside a clock. */
const sharedOptions = ['withWorkers', 'isPublic', 'tokenSeconds'] as const;

/** The instance that files of this process share, and what was asked for when it was opened. */
let shared: { readonly asked: string; readonly instance: TestInstance } | undefined;

/** The clock of the `describe` that uses it; undefined: it has the real time. */
let clockInUse: (() => Date) | undefined;

const canBeShared = (options: InstanceOptions): boolean =>
  Object.keys(options).every((name) => ['now', ...sharedOptions].includes(name));

/**
 * Opened by the first file that asks, for those that follow: to open one costs as much as many tests. Only one
 * is kept, of the kind that was asked for last: workers cost when they have nothing to do, too. Each file has
 * tenants of its own in it, which is how the product is used.
 */
async function openSharedInstance({ now, ...options }: InstanceOptions): Promise<TestInstance> {
  const asked = JSON.stringify(sharedOptions.map((name) => options[name]));
  if (shared?.asked === asked) return shared.instance;
  const before = shared?.instance;
  shared = undefined;
  if (before) {
    keepTestDatabase(before.databaseUrl, false);
    await before.close();
  }
  const clock = now && { now: () => clockInUse?.() ?? new Date() };
  const instance = await openTestInstance({ ...options, ...clock });
  keepTestDatabase(instance.databaseUrl, true);
  shared = { asked, instance };
  return instance;
}

export interface UseOptions extends InstanceOptions {
  /** Whether it may be one that other files of the process use, too, where nothing special is asked for. */
  readonly isShared?: boolean;
}

/**
 * The product for the tests of a `describe`: opened before the first of them, closed after the last.
 * What is returned at once stands for it, so that a test needs no variable that a hook fills.
 */
export function useInstance({ isShared: may = false, ...options }: UseOptions = {}): TestInstance {
  const isShared = may && canBeShared(options);
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
