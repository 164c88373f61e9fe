import {
  type Command,
  clientOptions,
  openClient,
  printable,
  table,
  tree,
  type Paint,
  milliseconds,
  paintedState,
} from 'svc/cli';
import { durationOf, type PluginDetail, pluginPath } from './plugin-detail.ts';

export const command: Command = {
  operands: ['<id>'],
  options: clientOptions,
  about:
    "Shows the plugin's state and the reason for it, its dependencies and dependents, when it last started, and everything it owns.",
  example: 'svc plugin why version',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const plugin = await client.get<PluginDetail>(pluginPath(call.operand(0)));
    return { data: plugin, text: (paint) => page(plugin, paint) };
  },
};

function page(plugin: PluginDetail, paint: Paint): string {
  const { id, version, state, since, generation, title, description } = plugin;
  const serving = generation === null ? '' : `, generation ${generation}`;
  return [
    `${paint.strong(id)} ${version ?? ''}  ${paintedState(state, paint)} since ${since}${serving}`,
    printable(`${title}: ${description}`),
    '',
    table(facts(plugin).map(([name, value]) => [paint.faint(name), printable(value)])),
    ...(plugin.effects ? ['', tree(plugin.effects)] : []),
  ].join('\n');
}

function facts(plugin: PluginDetail): [name: string, value: string][] {
  const listed = (values: readonly string[]): string =>
    values.length === 0 ? 'nothing' : values.join(', ');
  return [
    ...(plugin.cause === null ? [] : [['cause', plugin.cause] as [string, string]]),
    ['needs', listed(plugin.requires)],
    ['offers', listed(plugin.provides)],
    ['needed by', listed(plugin.dependents)],
    ...lastStart(plugin),
    ...(plugin.draining.length === 0
      ? []
      : [['draining', `generation ${plugin.draining.join(', ')}`] as [string, string]]),
    ...(plugin.residue === null ? [] : [['leaked', plugin.residue] as [string, string]]),
    ...plugin.strikes.map(({ at, where, cause }): [string, string] => [
      'error',
      `${at} in ${where}: ${cause}`,
    ]),
  ];
}

function lastStart({ last_attempt }: PluginDetail): [name: string, value: string][] {
  if (last_attempt === null) {
    return [];
  }
  const { ok, generation, stage, cause, at, timings_ms } = last_attempt;
  const outcome = ok
    ? `generation ${generation} started`
    : `generation ${generation} failed in ${stage ?? 'an unknown stage'}: ${cause ?? 'unknown cause'}`;
  const stages = Object.entries(timings_ms).map(([name, ms]) => `${name} ${milliseconds(ms)}`);
  return [
    ['last start', `${outcome} (${at})`],
    ['took', `${durationOf(last_attempt)}: ${stages.join(', ')}`],
  ];
}
