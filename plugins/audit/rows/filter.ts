/** Filter of rows; absent fields match everything. */
export interface Filter {
  /** Actors as `kind:id`; an e-mail address stands for everybody who ever acted under it. */
  readonly actors?: readonly string[];
  readonly action?: string;
  /** Actions that begin with this. */
  readonly area?: string;
  /** Rows of none of these actions and areas. */
  readonly without?: readonly Pick<Filter, 'action' | 'area'>[];
  /** Address of the caller. */
  readonly ip?: string;
  readonly resourceType?: string;
  readonly resourceId?: string;
  readonly status?: string;
  /** Milliseconds, this one included. */
  readonly from?: number;
  /** Milliseconds, this one not. */
  readonly to?: number;
}

/** The filters of a request, as its query names them. */
export interface Asked {
  readonly actor?: string;
  readonly action?: string;
  readonly without?: string;
  readonly ip?: string;
  readonly resource_type?: string;
  readonly resource_id?: string;
  readonly status?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Reads a query; `actorsOf` knows who acted under an e-mail address. */
export async function filterOf(
  asked: Asked,
  actorsOf: (email: string) => Promise<readonly string[]>,
): Promise<Filter> {
  const {
    actor,
    action,
    without,
    ip,
    resource_type: resourceType,
    resource_id: resourceId,
    status,
    from,
    to,
  } = asked;
  return {
    ...(actor !== undefined && { actors: await keysOf(actor, actorsOf) }),
    ...(action !== undefined && actionsOf(action)),
    ...(without !== undefined && { without: without.split(',').map(actionsOf) }),
    ...(ip !== undefined && { ip }),
    ...(resourceType !== undefined && { resourceType }),
    ...(resourceId !== undefined && { resourceId }),
    ...(status !== undefined && { status }),
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(to !== undefined && { to: Date.parse(to) }),
  };
}

async function keysOf(
  actor: string,
  actorsOf: (email: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  if (actor.includes('@')) {
    return await actorsOf(actor.toLowerCase());
  }
  return [actor.includes(':') ? actor : `user:${actor}`];
}

/** `edge:*` is an area, `*` is everything. */
function actionsOf(action: string): Pick<Filter, 'action' | 'area'> {
  if (!action.endsWith('*')) {
    return { action };
  }
  return action === '*' ? {} : { area: action.slice(0, -1) };
}
