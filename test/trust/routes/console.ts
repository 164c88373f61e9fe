import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET  /                             public
    GET  /ui                           public
    GET  /ui/                          public
    GET  /ui/{page}                    public
    GET  /ui/{page}/{item}             public
    GET  /ui/{page}/{item}/{part}      public
    GET  /ui/assets/{file}             public
    GET  /favicon.ico                  public
    GET  /api/v1/console/start         public
    GET  /api/v1/console/languages/{tag}  public
    GET  /api/v1/console/extras        any  none
    GET  /api/v1/console/live          any  narrowed
  `,
  // Addresses of one document, and files of the product.
  houseWide: ['ui', 'assets', 'languages'],
};
