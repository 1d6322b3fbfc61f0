import { html } from './html.ts';

/** The reference of all six; Scalar draws it. */
export const reference = html` <main id="content">
  <noscript
    ><p class="note">
      The reference needs JavaScript. The documents themselves are at <code>/openapi/{service}.json</code>.
    </p></noscript
  >
  <div id="reference"></div>
</main>`;
