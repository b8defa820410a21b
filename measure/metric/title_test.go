package metric_test

import (
	"strings"
	"testing"

	"nero/measure/metric"
)

// People read titles: no metric shows them an identifier, whatever it is of or against.
func TestHeading(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"accuracy": "accuracy", "pixel_accuracy": "pixel accuracy", "top3": "right among the best 3",
		"conf_iou": "confidence × IoU", "aee": "average end-point error",
		"energy.rmse@self":       "energy: root mean square error against its own answer",
		"conf_iou@consensus":     "confidence × IoU against the consensus",
		"worst:accuracy":         "accuracy, worst of the orbit",
		"class_iou:1:road_sign":  "IoU of road_sign",
		"class_iou:4":            "IoU of class 4",
		"relative":               "relative equivariance error",
		"key_confidence":         "confidence at the key object",
		"coco_ap50":              "COCO AP50",
		"conf_iou_precision_any": "confidence × IoU × precision, any class",
	} {
		m, err := metric.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Heading(); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	titles := map[string]string{}
	for _, m := range metric.Builtin() {
		h := m.Heading()
		if strings.ContainsAny(h, "_@") {
			t.Errorf("%s has the title %q", m.Name, h)
		}
		if before, twice := titles[h]; twice {
			t.Errorf("%s and %s have the title %q", before, m.Name, h)
		}
		titles[h] = m.Name
	}
}
