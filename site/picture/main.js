// The page that make run serves, and one thing more: where it names a file that this site
// shows, that is a link to it.

import '../../internal/page/static/main.js';
import {byId, el} from '../../internal/page/static/dom.js';

const files = new Set(readingPath); // which the generator knows

function link(code) {
  const file = code.textContent;
  if (files.has(file) && !code.closest('a')) {
    const name = code.nextSibling?.textContent.trim() ?? '';
    const place = el('a', {href: `read/${file}.html${name && `#${name}`}`});
    code.replaceWith(place);
    place.append(code);
  }
}

new MutationObserver(() => {
  byId('panel').querySelectorAll('.places code, .place code').forEach(link);
}).observe(byId('panel'), {subtree: true, childList: true});
