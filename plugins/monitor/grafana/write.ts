import { isDeepStrictEqual } from 'node:util';

import type { Dashboard, DashboardPanel, Origin, Variable } from '../model/dashboard.ts';
import { drawingOf } from '../model/drawing.ts';
import type { PanelBody } from '../model/panel.ts';
import { datasources } from './datasource.ts';
import { type Foreign, isObject, objects, text } from '../frames/foreign-json.ts';
import type { Sources } from './sources.ts';
import { translate } from './translate.ts';
import { panelJson } from './write-panel.ts';
import { variableJson } from './write-variable.ts';

/** Data sources that whoever imports the file chooses. */
const inputs: Sources = { metrics: '${DS_METRICS}', logs: '${DS_LOGS}' };

/**
 * Returns a dashboard as Grafana takes it: one that was imported as it was, with what was changed
 * since. With `sources`, every query goes to one of them; without, to what the file names.
 */
export function grafanaOf(dashboard: Dashboard, sources?: Sources): Record<string, unknown> {
  const { origin } = dashboard;
  if (origin === undefined) {
    return made(dashboard, sources);
  }
  const whole = restored(dashboard, origin, sources ?? inputs);
  return sources === undefined
    ? whole
    : (redirected(whole, datasources(whole), sources) as Foreign);
}

function made(
  { uid, title, description, variables, panels }: Dashboard,
  sources: Sources = inputs,
): Record<string, unknown> {
  return {
    ...(sources === inputs && {
      __inputs: [
        { name: 'DS_METRICS', label: 'Metrics', type: 'datasource', pluginId: 'prometheus' },
        { name: 'DS_LOGS', label: 'Logs', type: 'datasource', pluginId: 'loki' },
      ],
    }),
    uid,
    title,
    description,
    schemaVersion: 39,
    editable: true,
    timezone: 'browser',
    time: { from: 'now-1h', to: 'now' },
    refresh: '30s',
    templating: { list: variables.map((variable) => variableJson(variable, sources)) },
    panels: nested(panels, sources),
  };
}

/** Panels of a folded row are inside of it, and take no room below it. */
function nested(panels: readonly PanelBody[], sources: Sources): readonly Foreign[] {
  const found: Record<string, unknown>[] = [];
  let inside: Foreign[] | undefined;
  let first = 0;
  let last = 0;
  let hidden = 0;
  for (const [at, panel] of panels.entries()) {
    const { position, type } = panel;
    if (type === 'row') {
      hidden += inside === undefined ? 0 : last - first;
      inside = panel.collapsed === true ? [] : undefined;
      first = position.y + 1;
      last = first;
    }
    last = Math.max(last, position.y + position.h);
    const json = {
      ...panelJson({ ...panel, position: { ...position, y: position.y - hidden } }, sources),
      id: at + 1,
    };
    if (type === 'row') {
      found.push({ ...json, panels: inside ?? [] });
    } else {
      (inside ?? found).push(json);
    }
  }
  return found;
}

function restored(
  { title, variables, panels }: Dashboard,
  { dashboard, leftOut }: Origin,
  sources: Sources,
): Record<string, unknown> {
  const before = translate(dashboard);
  const bodies = new Map(before.panels.map(({ place, panel }) => [place, panel]));
  const kept = new Map(panels.flatMap((panel) => (panel.origin ? [[panel.origin, panel]] : [])));
  const again = (foreign: Foreign, place: string): readonly Foreign[] => {
    const inside = Array.isArray(foreign['panels'])
      ? { panels: eachPlaced(foreign['panels'], place, again) }
      : {};
    const panel = kept.get(place);
    if (panel === undefined) {
      // Of a row that is gone, its panels stay.
      return leftOut.includes(place) ? [foreign] : (inside.panels ?? []);
    }
    const isSame = isDeepStrictEqual(bodyOf(panel), bodyOf(bodies.get(place)!));
    return [
      { ...foreign, ...(!isSame && changedIn(foreign, panelJson(panel, sources))), ...inside },
    ];
  };
  const added = panels.filter(({ origin }) => origin === undefined);
  const top = [
    ...(Array.isArray(dashboard['panels']) ? eachPlaced(dashboard['panels'], '', again) : []),
    ...added.map((panel) => panelJson(panel, sources)),
  ];
  const isSameList = isDeepStrictEqual(
    plain(variables),
    plain(before.variables.map(({ variable }) => variable)),
  );
  return {
    ...dashboard,
    ...(title !== before.title && { title }),
    ...((Array.isArray(dashboard['panels']) || added.length > 0) && { panels: top }),
    ...(Array.isArray(dashboard['rows']) && {
      rows: dashboard['rows'].map((row: unknown, at) =>
        isObject(row) && Array.isArray(row['panels'])
          ? { ...row, panels: eachPlaced(row['panels'], `rows/${at}`, again) }
          : row,
      ),
    }),
    ...(!isSameList && { templating: { list: listOf(dashboard, variables, sources) } }),
  };
}

const eachPlaced = (
  panels: readonly unknown[],
  inside: string,
  each: (foreign: Foreign, place: string) => readonly Foreign[],
): readonly Foreign[] =>
  panels.flatMap((foreign, at) =>
    isObject(foreign) ? each(foreign, inside === '' ? String(at) : `${inside}/${at}`) : [],
  );

/** A change of one kind leaves what else Grafana keeps in a panel. */
const changedIn = (foreign: Foreign, json: Foreign): Foreign => ({
  ...json,
  ...('id' in foreign && { id: foreign['id'] }),
});

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const bodyOf = (panel: DashboardPanel | PanelBody): unknown => {
  const { title, type, query, legend, unit, thresholds, position } = panel;
  return plain({ title, type, query, legend, unit, thresholds, position, ...drawingOf(panel) });
};

/** Variables that are the same as they were stay as they were written. */
function listOf(
  dashboard: Foreign,
  variables: readonly Variable[],
  sources: Sources,
): readonly Foreign[] {
  const before = new Map(
    translate(dashboard).variables.map(({ variable }) => [variable.name, variable]),
  );
  const written = new Map(
    objects(isObject(dashboard['templating']) ? dashboard['templating']['list'] : []).map(
      (foreign) => [text(foreign['name']), foreign],
    ),
  );
  return variables.map((variable) => {
    const foreign = written.get(variable.name);
    return foreign !== undefined &&
      isDeepStrictEqual(plain(variable), plain(before.get(variable.name) ?? {}))
      ? foreign
      : variableJson(variable, sources);
  });
}

/** Every data source that is one of our stores becomes that of the given uid. */
function redirected(
  value: unknown,
  datasource: ReturnType<typeof datasources>,
  sources: Sources,
): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => redirected(item, datasource, sources));
  }
  if (!isObject(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== 'datasource') {
        return [key, redirected(inner, datasource, sources)];
      }
      const { kind } = datasource(inner);
      return [
        key,
        kind === 'logs'
          ? { type: 'loki', uid: sources.logs }
          : kind === 'other'
            ? inner
            : { type: 'prometheus', uid: sources.metrics },
      ];
    }),
  );
}
