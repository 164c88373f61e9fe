import type { Random } from 'svc/seeded';

import type { Scene } from './world/scene.ts';
import type { Component } from './world/world.ts';

/** A stream as Loki takes it. */
export interface Stream {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: (readonly [nanoseconds: string, line: string])[];
}

type Level = 'INFO' | 'WARN' | 'ERROR';

interface Said {
  readonly at: number;
  readonly level: Level;
  readonly text: string;
  /** Kind of error, for traces of stacks. */
  readonly exception?: string;
}

const mostPerStep = 6;
const perSecond = 0.05;

/** Returns the lines of services and stores, in the format and under the labels that the world uses. */
export function streamsOf(scene: Scene): readonly Stream[] {
  const { world } = scene;
  const { logFormat, logLabel, platform, namespace } = world.vocabulary;
  if (logFormat === undefined) {
    return [];
  }
  return world.components
    .filter(({ role }) => role === 'service' || role === 'store' || role === 'resolver')
    .flatMap((component) =>
      component.instances.map((instance, at): Stream => {
        const machine = world.machines[instance.host]!;
        const said = saidBy(scene, component, at).sort((a, b) => a.at - b.at);
        return {
          stream: {
            [logLabel]: component.name,
            ...(platform === 'kubernetes'
              ? { namespace, pod: instance.pod, node_name: machine.name }
              : { host: machine.name, filename: `/var/log/${component.name}.log` }),
          },
          values: said.map(
            (one) => [`${one.at}000000`, lineOf(logFormat, one, component, machine.name)] as const,
          ),
        };
      }),
    );
}

function saidBy(scene: Scene, component: Component, instance: number): Said[] {
  const { world, lives, course, random, end } = scene;
  const life = lives.components[component.id]!;
  const said: Said[] = [];
  const share = 1 / component.instances.length;
  const say = (step: number, count: number, make: () => Omit<Said, 'at'>): void => {
    for (let left = Math.min(mostPerStep, count); left > 0; left -= 1) {
      if (left >= 1 || random() < left) {
        said.push({
          at: Math.floor(
            end - (course.steps - 1 - step - random()) * course.stepMs - course.stepMs,
          ),
          ...make(),
        });
      }
    }
  };
  const seconds = course.stepMs / 1_000;
  for (let step = 0; step < course.steps; step += 1) {
    if (life.up[step] === 0) {
      continue;
    }
    say(step, perSecond * seconds * 0.5, () => usual(random, component));
    const failures = life.rate[step]! * seconds * share;
    // Not every failure is written down: of many, one in twenty.
    say(step, (failures * life.own[step]!) / 20, () => ownError(random, scene, component, step));
    world.calls.forEach((call, at) => {
      if (call.from === component.id && !call.isAsync) {
        const made = lives.calls[at]!;
        say(step, (made.rate[step]! * seconds * share * made.errors[step]!) / 20, () => ({
          level: 'ERROR',
          text: peerError(scene, world.components[call.to]!, step),
          exception: 'UpstreamError',
        }));
        say(step, made.mean[step]! > 0.7 ? 1 : 0, () => ({
          level: 'WARN',
          text: `slow call to ${world.components[call.to]!.name}: took ${Math.round(made.mean[step]! * 1_000)} ms`,
        }));
      }
    });
    if (life.restarts[step] !== (step === 0 ? 0 : life.restarts[step - 1])) {
      say(step, 1, () => ({
        level: 'INFO',
        text: `started ${component.name} ${component.version} in 4.2 seconds`,
      }));
    }
  }
  for (const { fault, onset } of course.faults) {
    if (fault.change?.component === component.id && instance >= 0) {
      say(onset, 1, () => ({
        level: 'INFO',
        text:
          fault.change!.kind === 'deploy'
            ? `starting ${component.name} version ${component.version}-rc1`
            : 'configuration reloaded from /etc/app/config.yaml',
      }));
    }
    for (const { component: id, error, exception } of fault.logs) {
      for (
        let step = onset;
        step < course.steps && id === component.id && fault.kind !== 'memory leak';
        step += 1
      ) {
        say(step, 1.5, () => ({ level: 'ERROR', text: error, exception }));
      }
    }
  }
  return said;
}

const usual = (random: Random, { engine, role }: Component): Omit<Said, 'at'> => {
  const id = Math.floor(random() * 1e6);
  if (engine !== undefined || role === 'resolver') {
    return {
      level: 'INFO',
      text:
        random() < 0.5
          ? `checkpoint complete: wrote ${id % 900} buffers`
          : `connection received: id=${id}`,
    };
  }
  const draw = random();
  return draw < 0.05
    ? { level: 'WARN', text: `retrying request ${id} after 1 attempts` }
    : draw < 0.06
      ? {
          level: 'ERROR',
          text: `validation failed for request ${id}: missing field`,
          exception: 'ValidationError',
        }
      : {
          level: 'INFO',
          text:
            draw < 0.5
              ? `request ${id} completed in ${Math.floor(random() * 80)} ms`
              : `handled job ${id}`,
        };
};

function ownError(
  random: Random,
  { course }: Scene,
  { id, name }: Component,
  step: number,
): Omit<Said, 'at'> {
  const hit = course.faults.flatMap(({ fault, onset }) =>
    step >= onset ? fault.logs.filter(({ component }) => component === id) : [],
  )[0];
  return hit === undefined
    ? {
        level: 'ERROR',
        text: `internal error in ${name} while handling request ${Math.floor(random() * 1e6)}`,
        exception: 'InternalError',
      }
    : { level: 'ERROR', text: hit.error, exception: hit.exception };
}

function peerError(
  { course, lives, world }: Scene,
  { id, name, instances }: Component,
  step: number,
): string {
  const address = instances[0] === undefined ? `${name}:443` : `${name}:${instances[0].port}`;
  const isExpired = course.faults.some(
    ({ fault, onset }) => fault.certificate === id && step >= onset,
  );
  const unresolved = course.faults.some(
    ({ fault, onset }) => fault.kind === 'dns failure' && step >= onset,
  );
  if (isExpired) {
    return `Get "https://${address}/": tls: failed to verify certificate: x509: certificate has expired or is not yet valid`;
  }
  if (lives.components[id]!.up[step] === 0) {
    return `dial tcp ${address}: connect: connection refused`;
  }
  if (unresolved) {
    return `dial tcp: lookup ${name} on 10.96.0.10:53: server misbehaving`;
  }
  return lives.calls.some((call, at) => world.calls[at]!.to === id && call.mean[step]! > 0.8)
    ? `request to ${address} failed: context deadline exceeded`
    : `upstream ${name} returned 500`;
}

/** One line as this organisation's logging library writes it. */
function lineOf(
  format: 'json' | 'logfmt' | 'syslog' | 'plain' | 'stacktrace',
  { at, level, text, exception }: Said,
  { name }: Component,
  host: string,
): string {
  const time = new Date(at).toISOString();
  switch (format) {
    case 'json':
      return JSON.stringify({
        timestamp: time,
        level: level.toLowerCase(),
        logger: name,
        message: text,
        ...(exception && { error_type: exception }),
      });
    case 'logfmt':
      return `ts=${time} level=${level.toLowerCase()} msg=${JSON.stringify(text)} component=${name}`;
    case 'syslog':
      return `<${level === 'ERROR' ? 11 : level === 'WARN' ? 12 : 14}>${new Date(at).toUTCString().slice(8, 11)} ${time.slice(8, 10)} ${time.slice(11, 19)} ${host} ${name}[4711]: ${text}`;
    case 'plain':
      return `${time.slice(0, 19).replace('T', ' ')} ${level.padEnd(5)} [main] ${name} - ${text}`;
    case 'stacktrace':
      return level === 'ERROR'
        ? `${time} ERROR ${name}: ${exception ?? 'Error'}: ${text}\n\tat com.example.${name.replaceAll('-', '_')}.Handler.handle(Handler.java:88)\n\tat com.example.Server.run(Server.java:41)`
        : `${time} ${level} ${name}: ${text}`;
  }
}
