import { readFileSync } from 'node:fs';
import { StartupError, firstLine } from '../startup-error.js';

type Raw = Readonly<Record<string, string | undefined>>;

const isGiven = (text: string | undefined): text is string => (text ?? '').trim() !== '';

/**
 * The environment with the secrets that stand in files: `SECRET_KEY_FILE` names the file that holds
 * `SECRET_KEY`. An environment is shown by `ps`, `docker inspect` and reports of crashes; a file is not.
 */
export function withSecretFiles(env: Raw, secrets: Iterable<string>): Raw {
  const read: Record<string, string> = {};
  for (const name of secrets) {
    const path = env[`${name}_FILE`]?.trim();
    if (!isGiven(path)) continue;
    if (isGiven(env[name])) {
      throw new StartupError(`${name} and ${name}_FILE are both set: unset one of them.`);
    }
    try {
      read[name] = readFileSync(path, 'utf8').trim();
    } catch (error) {
      throw new StartupError(`Cannot read ${name}_FILE (${path}): ${firstLine(error)}`);
    }
    if (read[name] === '') throw new StartupError(`${name}_FILE (${path}) is empty.`);
  }
  return { ...env, ...read };
}
