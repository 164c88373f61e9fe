import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET  /.well-known/security.txt  public
    GET  /docs                      public
    GET  /docs/pictures/{file}      public
    GET  /docs/{page}               public
  `,
  houseWide: ['pictures', 'docs'],
};
