import { existsSync } from 'node:fs';

import { type Call, type Command, usageFailure, printable } from 'svc/cli';
import type { Case } from './bench/case.ts';
import { nezhaCases } from './bench/nezha.ts';
import { openrcaCases } from './bench/openrca.ts';
import { petshopCases } from './bench/petshop.ts';
import { rcaevalCases } from './bench/rcaeval.ts';
import { simulated } from './bench/simulator/simulate.ts';
import { shown, tableOf } from './bench/table.ts';
import { playedWorlds } from './bench/worlds/played.ts';
import { shownWorlds } from './bench/worlds/score.ts';
import { type WorldKind, worldKinds } from './bench/worlds/world/world-kind.ts';

type Cases = Iterable<Case> | AsyncIterable<Case>;

const formats: Readonly<Record<string, (dir: string) => Cases>> = {
  petshop: petshopCases,
  rcaeval: rcaevalCases,
  openrca: openrcaCases,
  nezha: nezhaCases,
};

export const command: Command = {
  operands: ['[folder]'],
  options: {
    format: {
      value: 'petshop|rcaeval|openrca|nezha|sim',
      about:
        'format of the data set: petshop, rcaeval, openrca, nezha or sim; sim generates incidents and needs no folder; default sim',
    },
    seeds: {
      value: 'n',
      about:
        'number of simulated faults of each of the two kinds; also adds half as many calm cases and a quarter as many with evidence withheld; default 100',
    },
    from: {
      value: 'n',
      about: 'first seed; the same seeds give the same incidents on every machine; default 0',
    },
    'drop-edges': {
      value: '0…1',
      about: 'share of the topology to withhold in simulated incidents; default 0',
    },
    worlds: {
      value: 'n',
      about:
        'number of generated worlds to send to a temporary svc through its API, each with its own names and labels; replaces the data sets above',
    },
    seed: {
      value: 'n',
      about:
        'seed of the first world; seeds below 5000 are for development, seeds of 5000 and above for validation; default 1',
    },
    kind: {
      value: 'mixed|metrics|spans|logs|traces',
      about: 'kind of data that the worlds send; default mixed',
    },
  },
  about:
    'Measures how often the investigator finds the known cause of incidents, compared with four baseline methods on the same data: accuracy at 1, 3 and 5, false alarms, and calibration. With --worlds, measures svc end to end, from the data that systems send to the finished report. Works without a running svc.',
  example: 'svc bench rca --format petshop ./petshop/dataset/low_traffic',

  async run(call, shell) {
    const begun = performance.now();
    const progress = (done: number): void =>
      void (!call.json && process.stderr.isTTY && process.stderr.write(`\r${done} cases`));
    if (call.value('worlds') !== undefined) {
      const table = await playedWorlds(shell, {
        first: numberOf(call, 'seed', 1),
        count: numberOf(call, 'worlds', 20),
        kind: kindOf(call),
        each: progress,
      });
      const seconds = (performance.now() - begun) / 1_000;
      return {
        data: { ...table, seconds },
        text: () =>
          [...shownWorlds(table), '', `${seconds.toFixed(1)} s`].map(printable).join('\n'),
      };
    }
    const table = await tableOf(casesOf(call), progress);
    if (!call.json && process.stderr.isTTY) {
      process.stderr.write('\r');
    }
    const seconds = (performance.now() - begun) / 1_000;
    return {
      data: { ...table, seconds },
      text: () => [...shown(table), '', `${seconds.toFixed(1)} s`].map(printable).join('\n'),
    };
  },
};

function casesOf(call: Call): Cases {
  const format = call.value('format') ?? 'sim';
  if (format === 'sim') {
    return simulated(numberOf(call, 'from', 0), numberOf(call, 'seeds', 100), shareOf(call));
  }
  const read = formats[format];
  if (read === undefined) {
    throw usageFailure(`--format must be petshop, rcaeval, openrca, nezha or sim, not "${format}"`);
  }
  const dir = call.optionalOperand(0);
  if (dir === undefined || !existsSync(dir)) {
    throw usageFailure(
      dir === undefined
        ? `--format ${format} needs the folder of the data set`
        : `there is no folder ${dir}`,
    );
  }
  return read(dir);
}

function kindOf(call: Call): WorldKind {
  const value = call.value('kind') ?? 'mixed';
  const kind = worldKinds.find((one) => one === value);
  if (kind === undefined) {
    throw usageFailure(`--kind must be one of ${worldKinds.join(', ')}, not "${value}"`);
  }
  return kind;
}

function numberOf(call: Call, name: string, usual: number): number {
  const value = Number(call.value(name) ?? usual);
  if (!Number.isInteger(value) || value < 0 || value > 1e9) {
    throw usageFailure(`--${name} must be a whole number from 0`);
  }
  return value;
}

function shareOf(call: Call): number {
  const value = Number(call.value('drop-edges') ?? 0);
  if (!(value >= 0 && value < 1)) {
    throw usageFailure('--drop-edges must be a share from 0 to below 1');
  }
  return value;
}
