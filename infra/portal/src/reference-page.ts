import { html } from './html.ts';

/** The reference of all six. Scalar draws it, and the `main` of the page. */
export const reference = html` <div id="content">
  <noscript
    ><p class="note">
      The reference needs JavaScript. The documents themselves are at <code>/openapi/{service}.json</code>.
    </p></noscript
  >
  <div id="reference"></div>
</div>`;
