import { layCable, type Cable } from '../support/servers/cable.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';

export interface Opened {
  readonly instance: TestInstance;
  /** The way to the broker. */
  readonly cable: Cable;
  /** What a second process of the same instance is opened with, on ways of its own. */
  readonly databaseUrl: string;
}

/** How long a publish may take in these tests. */
export const ingestTimeoutMs = 4_000;

interface Options {
  readonly withWorkers?: boolean;
}

interface Kind {
  readonly name: string;
  open(options?: Options): Promise<Opened>;
}

const postgres: Kind = {
  name: 'PostgreSQL',
  async open(options = {}) {
    let cable: Cable | undefined;
    const instance = await openTestInstance({
      ...options,
      ingestTimeoutMs,
      kafka: null,
      route: async (databaseUrl) => {
        cable = await layCable(databaseUrl);
        return cable.url;
      },
    });
    if (!cable) throw new Error('No cable was laid.');
    return { instance, cable, databaseUrl: instance.databaseUrl };
  },
};

/** Kafka tells its clients to come through the cable: `listening port:port of Kafka`. */
function kafka(ports: string): Kind {
  const [near = '', far = ''] = ports.split(':');
  let serial = Date.now();
  return {
    name: 'Kafka',
    async open(options = {}) {
      const cable = await layCable(`kafka://127.0.0.1:${far}`, Number(near));
      serial += 1;
      const instance = await openTestInstance({
        ...options,
        ingestTimeoutMs,
        kafka: {
          brokers: [`127.0.0.1:${near}`],
          prefix: `broker-${serial}`,
          tls: false,
          sasl: undefined,
          replication: undefined,
          retentionHours: undefined,
        },
      });
      const close = async (): Promise<void> => {
        await instance.close();
        await cable.cut();
      };
      return { instance: { ...instance, close }, cable, databaseUrl: instance.databaseUrl };
    },
  };
}

/** The log in PostgreSQL, and Kafka where `npm run test:production` has started one. */
export const brokerKinds: readonly Kind[] = [
  postgres,
  ...(process.env['TEST_KAFKA_CABLE'] === undefined
    ? []
    : [kafka(process.env['TEST_KAFKA_CABLE'])]),
];
