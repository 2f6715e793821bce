export type Settings = {
	/** URL of the Tributary API, such as `https://api.example.com`. */
	api: string;
	/** Query parameters that may carry the click id. The first one also decorates outbound links. */
	parameters?: string[];
	/** Name of the click id cookie; by default, the first of `parameters`. */
	cookie?: string;
	/** Cookie domain, such as `example.com` for all its subdomains; by default, only the current host. */
	cookieDomain?: string;
	cookieDays?: number;
	/** Whether the visitor's first or last click gets the attribution. */
	attribution?: "first-click" | "last-click";
	/** Hosts to whose links the click id is added: `shop.example.com`, or `*.example.com` for subdomains. */
	outbound?: string[];
	/** A publishable key (`trib_pk_…`), for `trackLead` and `trackSale`. */
	key?: string;
	/** Whether to do nothing for visitors whose browser sends Do-Not-Track or Global Privacy Control. */
	honourDoNotTrack?: boolean;
};
export type Click = {
	domain: string;
	key: string;
	url?: string;
	referrer?: string;
};
export type Lead = {
	eventName: string;
	customerExternalId: string;
} & Details;
export type Sale = {
	customerExternalId: string;
	amount: number;
	currency?: string;
	invoiceId?: string;
} & Details;
type Details = {
	[field: string]: unknown;
};
export type Tracker = {
	/** Returns the visitor's click id, or null if none is known. */
	clickId(): string | null;
	/** Tracks a click on a page that was reached without the redirect, and stores the click id. */
	trackClick(click: Click): Promise<string | null>;
	/** `trackLead` and `trackSale` return `{}`, the only response to a publishable key, or null for a visitor who opted out. */
	trackLead(lead: Lead): Promise<unknown>;
	trackSale(sale: Sale): Promise<unknown>;
};
/** Stores the click id from the page's URL, and adds it to outbound links from now on. */
export declare function startTracker(settings: Settings): Tracker;
export {};
