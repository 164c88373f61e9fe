/** Whether holding `grant` (`*`, `edge:*`, `edge:create`) allows `action`, which may be a whole area itself. */
export const covers = (grant: string, action: string): boolean =>
  grant === '*' || grant === action || (grant.endsWith(':*') && action.startsWith(grant.slice(0, -1)));
