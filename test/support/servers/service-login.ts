import { prepareDatabase } from '../../../src/process/prepare-database.js';
import { secretBox } from '../../../src/platform/secret-box.js';

export interface ServiceLogin {
  readonly name: string;
  readonly password: string;
  /** Seals secrets in the database; the instance's own. */
  readonly secret: Buffer;
}

/** A way to the database of an instance that is opened with `route`: as a process of the product logs in. */
export const asServiceLogin =
  ({ name, password, secret }: ServiceLogin) =>
  async (databaseUrl: string): Promise<string> => {
    const url = new URL(databaseUrl);
    url.username = name;
    url.password = encodeURIComponent(password);
    await prepareDatabase({ owner: databaseUrl, login: url.href }, { box: secretBox(secret) });
    return url.href;
  };
