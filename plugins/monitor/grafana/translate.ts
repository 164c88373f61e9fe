import { errors } from '../model/errors.ts';
import { queriesOf } from '../model/panel.ts';
import { namesIn } from '../variables/insertion.ts';
import { datasources } from './datasource.ts';
import { field, type Foreign, isObject, objects, text } from '../frames/foreign-json.ts';
import { panelsOf } from './panels.ts';
import type { LeftOut, TakenPanel, Translation } from './report.ts';
import { variablesOf } from './variables.ts';

/**
 * Translates a dashboard, as Grafana exports it or its API returns it. Nothing is dropped without a
 * reason.
 */
export function translate(given: Foreign): Translation {
  const dashboard = isObject(given['dashboard']) ? given['dashboard'] : given;
  if (!Array.isArray(dashboard['panels']) && !Array.isArray(dashboard['rows'])) {
    throw errors.not_grafana();
  }
  const title = text(dashboard['title']) || 'Without a title';
  const datasource = datasources(dashboard);
  const variables = variablesOf(dashboard, datasource);
  const panels = panelsOf(dashboard, datasource);
  const lostNames = new Set(variables.leftOut.map((variable) => variable.title));
  const orphans: LeftOut[] = [];
  const gone = [...panels.gone];
  const whole = panels.taken.filter(({ panel, place }: TakenPanel) => {
    const lost = queriesOf(panel)
      .flatMap(({ query }) => [...namesIn(query)])
      .find((name) => lostNames.has(name));
    if (lost !== undefined) {
      orphans.push({
        kind: 'panel',
        title: panel.title,
        reason: `its query uses the variable ${lost}, which is left out`,
      });
      gone.push(place);
    }
    return lost === undefined;
  });
  return {
    uid: uidOf(text(dashboard['uid']), title),
    title,
    variables: variables.taken,
    panels: whole,
    leftOut: [...variables.leftOut, ...panels.leftOut, ...orphans, ...besides(dashboard)],
    gone,
    dashboard,
  };
}

/** Lists what is dropped outside panels. */
function besides(dashboard: Foreign): LeftOut[] {
  const left: LeftOut[] = objects(field(dashboard, 'annotations', 'list'))
    .filter((annotation) => annotation['builtIn'] !== 1)
    .map((annotation) => ({
      kind: 'annotation',
      title: text(annotation['name']) || 'without a name',
      reason: 'annotations are not supported',
    }));
  if (objects(dashboard['links']).length > 0) {
    left.push({
      kind: 'links',
      title: 'links',
      reason: 'links to other dashboards are not supported',
    });
  }
  const from = text(field(dashboard, 'time', 'from'));
  if (from !== '' && from !== 'now-1h') {
    left.push({
      kind: 'time',
      title: from,
      reason: 'the reader of a dashboard chooses the time range, with from and to',
    });
  }
  return left;
}

/** Returns Grafana's uid if it is valid here, else one made from the title. */
function uidOf(uid: string, title: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/.test(uid)) {
    return uid;
  }
  const made = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 60);
  return made === '' ? 'imported' : made;
}
