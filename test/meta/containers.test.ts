import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readConfig, variableNames, type RawEnvironment } from '../../src/platform/config.js';
import { freePort } from '../../src/platform/embedded/processes.js';
import { kafkaVersion, temporalServerVersion } from '../production/programs.js';
import { repository } from '../start/workbench.js';
import { openTestInstance, type TestInstance } from '../support/instance.js';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly replicas?: number };
  readonly healthcheck?: object;
}

const text = (path: string): string => readFileSync(join(repository, path), 'utf8');

const { services } = parse(text('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};

/** What a person sets before `docker compose up`. */
const given: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'c0ffee',
  SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
};

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

const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);

describe('docker-compose.yml', () => {
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
      expect(Object.keys(env).filter((each) => !variableNames.includes(each))).to.deep.equal([]);
      const config = readConfig(env);
      const hosts = [
        new URL(config.databaseUrl ?? '').host,
        config.temporal.address ?? '',
        ...(config.kafka?.brokers ?? []),
      ].map((address) => address.split(':')[0]);
      expect(hosts).to.deep.equal(['postgres', 'temporal', 'kafka']);
      expect(config.host).to.equal('0.0.0.0');
      expect(config.secretKey).to.equal(given['SECRET_KEY']);
    });
  }

  it('starts nothing before what it needs, and waits only for what tells of its health', () => {
    for (const [name, { depends_on: needs = {} }] of Object.entries(services)) {
      for (const [needed, { condition }] of Object.entries(needs)) {
        const service = services[needed];
        expect(service, `${name} needs ${needed}`).to.not.equal(undefined);
        if (condition === 'service_healthy') {
          expect(service?.healthcheck, `the health of ${needed}`).to.be.an('object');
        } else {
          expect(condition).to.equal('service_completed_successfully');
        }
      }
    }
  });

  it('pins images, of the versions that npm run test:production starts', () => {
    const images = Object.values(services).flatMap(({ image = '' }) => image);
    for (const image of images.filter((each) => each !== 'durabill:local')) {
      expect(image).to.match(/:\d+\.\d+(\.\d+)?$/);
    }
    expect(images).to.include.members([
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

  it('runs without root, on the Node of this project, with production dependencies', () => {
    expect(lines).to.include('USER node');
    expect(lines.filter((line) => line.startsWith('FROM node:')).length).to.equal(2);
    for (const line of lines.filter((each) => each.startsWith('FROM node:'))) {
      expect(line).to.match(/^FROM node:20\.\d+\.\d+-bookworm-slim/);
    }
    expect(text('Dockerfile')).to.contain('npm ci --omit=dev');
  });

  it('starts what npm start starts, with variables that exist', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const command = JSON.parse(lines.find((line) => line.startsWith('CMD '))?.slice(4) ?? '');
    expect(command.join(' ').replace('--import=', '--import ')).to.equal(
      scripts['start']?.replace('exec ', ''),
    );
    const env = lines.filter((line) => line.startsWith('ENV ')).join(' ');
    const names = [...env.matchAll(/(\w+)=/g)].map(([, name = '']) => name);
    expect(
      names.filter((name) => name !== 'NODE_ENV' && !variableNames.includes(name)),
    ).to.deep.equal([]);
  });

  describe('its health check', () => {
    let instance: TestInstance;
    before(async () => {
      instance = await openTestInstance();
    });
    after(() => instance.close());

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
