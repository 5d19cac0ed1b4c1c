import { openTestInstance, type InstanceOptions } from './instance.js';
import type { TestInstance, TestTenant } from './instance.js';

/** What a hook opens, as its tests see it; asking before the hook has run is a mistake of the test. */
function opened<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`There is no ${what} yet: ask within a hook or a test.`);
  return value;
}

/**
 * The product for the tests of a `describe`: opened before the first of them, closed after the last.
 * What is returned at once stands for it, so that a test needs no variable that a hook fills.
 */
export function useInstance(options: InstanceOptions = {}): TestInstance {
  let current: TestInstance | undefined;
  const instance = (): TestInstance => opened(current, 'instance');
  before('open an instance', async () => {
    current = await openTestInstance(options);
  });
  // What could not be opened has nothing to close, and its error is not hidden by another one.
  after('close the instance', () => current?.close());
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
