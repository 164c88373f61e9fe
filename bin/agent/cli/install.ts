import { readFileSync } from 'node:fs';

import { messageOf } from '../../../core/sdk/index.ts';
import { type Call, type Command, usageFailure, printable } from 'svc/cli';
import { edgeEnvironment } from '../data-dir.ts';
import { enrol } from '../enrol.ts';
import { proxyFor, proxyUrl } from 'svc/tunnel';
import { installAgent, prepareStart, startCommand, whyNoStart } from '../service.ts';
import { whyNoService } from '../../serve/service/systemd.ts';

export const command: Command = {
  operands: [],
  options: {
    manager: { value: 'url', about: 'address of the manager' },
    token: {
      value: 'token',
      about:
        'enrolment token issued by the manager; or set SVC_EDGE_TOKEN, which does not appear in process lists',
    },
    pin: {
      value: 'sha256/…',
      about: "manager's public key; checked instead of the certificate chain",
    },
    ca: {
      value: 'file',
      about: "PEM file with the CA certificate that signed the manager's certificate",
    },
    proxy: {
      value: 'url',
      about:
        "proxy for all connections to the manager; default: HTTPS_PROXY, unless NO_PROXY lists the manager's host",
    },
    name: {
      value: 'name',
      about:
        'name of the agent; the device keeps its own name, which "svc device rename" changes. Default: this machine\'s host name',
    },
    'no-service': { about: 'only enrol; you start the agent with your own service manager' },
  },
  about: 'Enrols this machine and, with systemd, starts the agent as a service with its own user.',
  example: 'svc edge install --manager https://svc.example.org --token svc_enrol_…',

  async run(call) {
    const manager = managerOf(call);
    const token = call.value('token') ?? call.environment['SVC_EDGE_TOKEN'];
    if (token === undefined) {
      throw usageFailure(
        'pass the enrolment token with --token or SVC_EDGE_TOKEN; create one in the manager under Edges → Enrolments',
      );
    }
    const dataDir = edgeEnvironment(call.environment).SVC_DATA_DIR;
    const enrolled = await enrol(dataDir, {
      manager,
      token,
      name: call.value('name'),
      pin: call.value('pin'),
      ca: caOf(call),
      proxy: proxyOf(call, manager),
    });
    prepareStart(dataDir);
    const obstacle = call.has('no-service')
      ? '--no-service was given'
      : (whyNoService() ?? whyNoStart());
    if (obstacle === undefined) {
      installAgent(dataDir);
    }
    const byHand = startCommand(dataDir).join(' ');
    return {
      data: { ...enrolled, data_dir: dataDir, service: obstacle === undefined, run: byHand },
      text: () =>
        [
          printable(
            `Enrolled as ${enrolled.name} (edge ${enrolled.edge_id}); its keys are in ${dataDir}/edge.json`,
          ),
          obstacle === undefined
            ? 'The agent runs as the service svc-edge; "svc edge status" shows its state'
            : `No service was set up, because ${obstacle}. Start the agent with:\n  ${byHand}`,
        ].join('\n'),
    };
  },
};

function managerOf(call: Call): string {
  const text = call.value('manager');
  const url = text === undefined ? undefined : parsed(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw usageFailure(
      '--manager must be the address of the manager, such as https://svc.example.org',
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function proxyOf({ value, environment }: Call, manager: string): string | undefined {
  const text = value('proxy') ?? proxyFor(new URL(manager), environment);
  return text === undefined ? undefined : proxyUrl(text).href;
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function caOf(call: Call): string | undefined {
  const file = call.value('ca');
  try {
    return file === undefined ? undefined : readFileSync(file, 'utf8');
  } catch (error) {
    throw usageFailure(`--ca names ${file}, which cannot be read: ${messageOf(error)}`);
  }
}
